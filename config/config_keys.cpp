#include "config/config_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/key_table.hpp"

namespace muster {
namespace config {
namespace {

std::string range_text(const NumberRange& range) {
  return fmt::format("{} {} .. {}", range.above_low ? "above" : "from", range.low, range.high);
}

/// Says about a kind of key what its documentation needs; `defaults` is a config nobody has
/// touched.
struct Describe {
  KeyInfo& info;
  ReplayConfig& defaults;

  void operator()(const WholeKey& key) const {
    info.type = "whole number";
    info.default_value =
        std::visit([&](auto at) { return fmt::format("{}", at(defaults)); }, key.at);
    info.range = fmt::format("from {} .. {}", key.low, key.high);
  }
  void operator()(const NumberKey& key) const {
    info.type = "number";
    info.default_value = number_text(key.at(defaults));
    info.range = range_text(key.range);
  }
  void operator()(const TimeKey& key) const {
    info.type = "duration";
    info.default_value = duration_text(key.at(defaults));
    info.range = fmt::format("from {} .. {}", duration_text(key.low), duration_text(key.high));
  }
  void operator()(const PathKey& key) const {
    info.type = "path";
    info.default_value = key.at(defaults).string();
    info.range = "relative to the config's folder, or from ${MUSTER_DATA}";
  }
  void operator()(const ListKey& key) const {
    info.type = "list of texts";
    info.default_value = fmt::format("{}", fmt::join(key.at(defaults), ", "));
    info.range = "at least one";
  }
  void operator()(const ChoiceKey& key) const {
    info.type = "word";
    const std::size_t position = key.get(defaults);
    info.default_value = position < key.names.size() ? key.names[position] : "";
    info.range = fmt::format("{}", fmt::join(key.names, ", "));
  }
};

/// Says what would be right.
struct Wanted {
  std::string operator()(const WholeKey& key) const {
    return fmt::format("a whole number from {} to {}", key.low, key.high);
  }
  std::string operator()(const NumberKey& key) const { return describe(key.range); }
  std::string operator()(const TimeKey& key) const {
    return fmt::format("a duration from {} to {}, as a number of seconds or a text like \"5min\"",
                       duration_text(key.low), duration_text(key.high));
  }
  std::string operator()(const PathKey& /*key*/) const {
    return "the path of a file, which may begin with ${MUSTER_DATA}";
  }
  std::string operator()(const ListKey& /*key*/) const {
    return "a list of at least one text, none of them empty";
  }
  std::string operator()(const ChoiceKey& key) const {
    return fmt::format("one of \"{}\"", fmt::join(key.names, "\", \""));
  }
};

}  // namespace

std::string wanted(const KeySpec& key) {
  return std::visit(Wanted{}, key.kind);
}

}  // namespace config

std::vector<KeyInfo> known_config_keys() {
  ReplayConfig defaults;
  std::vector<KeyInfo> all;
  for (const config::KeySpec& key : config::key_table()) {
    KeyInfo& info = all.emplace_back();
    info.key = key.name;
    info.meaning = key.meaning;
    std::visit(config::Describe{info, defaults}, key.kind);
    if (key.required) info.default_value = "required";
  }
  return all;
}

std::string describe_config() {
  std::string text = "| key | type | default | range | meaning |\n|---|---|---|---|---|\n";
  for (const KeyInfo& key : known_config_keys()) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.key, key.type, key.default_value,
                        key.range, key.meaning);
  }
  return text;
}

}  // namespace muster
