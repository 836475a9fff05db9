#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/numbers.hpp"
#include "config/replay_config.hpp"

// The one declaration of every tunable. Reading, checking and documentation are derived from it;
// defaults are those of the config structs.

namespace muster::config {

/// A whole number in a range.
struct WholeKey {
  std::variant<std::uint32_t& (*)(ReplayConfig&), std::uint64_t& (*)(ReplayConfig&)> at;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};
/// A finite number in a range.
struct NumberKey {
  double& (*at)(ReplayConfig&);
  NumberRange range;
};
/// A duration in a range.
struct TimeKey {
  Duration& (*at)(ReplayConfig&);
  Duration low;
  Duration high;
};
/// A file; relative ones are meant from the config's folder.
struct PathKey {
  std::filesystem::path& (*at)(ReplayConfig&);
};
/// At least one text, none of them empty.
struct ListKey {
  std::vector<std::string>& (*at)(ReplayConfig&);
};
/// One of a few words; an unset one has the position names.size().
struct ChoiceKey {
  std::vector<std::string> names;
  std::size_t (*get)(const ReplayConfig&);
  void (*set)(ReplayConfig&, std::size_t);
};

using KeyKind = std::variant<WholeKey, NumberKey, TimeKey, PathKey, ListKey, ChoiceKey>;

/// A key and everything that holds for it.
struct KeySpec {
  std::string name;     ///< dotted
  std::string meaning;  ///< one line
  KeyKind kind;
  bool required = false;
};

/// Every key, in the order of the documentation.
const std::vector<KeySpec>& key_table();

/// The key's declaration; null when there is no such key.
const KeySpec* find_key(std::string_view name);

/// Some key's name begins with `name` and a dot.
bool is_section(std::string_view name);

/// "a whole number from 1 to 8": what would be right, for error messages.
std::string wanted(const KeySpec& key);

}  // namespace muster::config
