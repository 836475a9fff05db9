#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

// With what the members of a type are named, as model/fields.hpp does it.

namespace muster {

/// Name of a member.
struct Key {
  std::string_view name;  ///< in event logs, with its unit
  /// In records, where that is not its name without the unit in the schema's spelling. After a '!'
  /// the name of a flag that is kept the other way round, so that what is not there is true.
  std::string_view record{};

  constexpr Key(const char* in_logs, const char* in_records = "")
      : name(in_logs), record(in_records) {}
  constexpr Key(std::string_view in_logs) : name(in_logs) {}
};

template <class T, class Plain>
concept Like = std::same_as<std::remove_const_t<T>, Plain>;

}  // namespace muster
