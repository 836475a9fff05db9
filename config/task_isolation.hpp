#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/enum_words.hpp"

namespace muster {

/// User ids, both ends among them.
struct UidRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  friend bool operator==(const UidRange&, const UidRange&) = default;
};

/// "200000-265535"; nothing when it is no such range, or has root or the mark of no user in it.
std::optional<UidRange> parse_uid_range(std::string_view text);

/// The config's choice of the walls between a task and the rest of the machine.
enum class IsolationChoice : std::uint8_t {
  automatic,   ///< the best that there is
  none,        ///< none: tasks run as the worker does
  uid,         ///< by users of the system; for root
  namespaces,  ///< the cluster's folders are out of a task's sight; for others than root
};
constexpr auto words_of(IsolationChoice) {
  using E = IsolationChoice;
  return std::to_array<EnumWord<E>>(
      {{E::automatic, "auto"}, {E::none, "none"}, {E::uid, "uid"}, {E::namespaces, "namespaces"}});
}

}  // namespace muster
