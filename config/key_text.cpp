// Texts about keys of config files: their documentation, the message of what would be right, and a
// value written so that it can be read again. Each is a visitor over the kinds of keys; a new kind
// does not compile before it has all three.

#include "config/key_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/cluster_config.hpp"
#include "config/key_values.hpp"
#include "config/replay_config.hpp"
#include "config/worker_config.hpp"

namespace muster::config {

std::string quoted(const std::string& text) {
  return written(toml::value<std::string>(text));
}

namespace {

/// Names stand in file names, certificates and command lines.
constexpr std::size_t kMaxName = 32;
constexpr std::string_view kNameLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";
constexpr std::string_view kNameRange = "1 to 32 of a-z, 0-9 and -";

template <class T>
std::string text_of(const T& number) {
  return fmt::format("{}", number);
}
template <class T>
std::string text_of(const std::optional<T>& number) {
  return number ? text_of(*number) : "";
}

std::string range_text(const NumberRange& range) {
  return fmt::format("{} {} .. {}", range.above_low ? "above" : "from", range.low, range.high);
}

/// Documentation of a kind of key; `defaults` is a config without any setting.
template <class C>
struct Describe {
  KeyInfo& info;
  C& defaults;

  void operator()(const WholeKeyOf<C>& key) const {
    info.type = "whole number";
    info.default_value = std::visit([&](auto at) { return text_of(at(defaults)); }, key.at);
    info.range = fmt::format("from {} .. {}", key.low, key.high);
  }
  void operator()(const NumberKeyOf<C>& key) const {
    info.type = "number";
    info.default_value = number_text(key.at(defaults));
    // C is a config as it is made, so its member is the default.
    info.range = range_text(key.range);
  }
  void operator()(const TimeKeyOf<C>& key) const {
    info.type = "duration";
    info.default_value = duration_text(key.at(defaults));
    info.range = fmt::format("from {} .. {}", duration_text(key.low), duration_text(key.high));
  }
  void operator()(const PathKeyOf<C>& key) const {
    info.type = "path";
    info.default_value = key.at(defaults).string();
    info.range = "relative to the config's folder, or from ${MUSTER_DATA}";
  }
  void operator()(const ListKeyOf<C>& key) const {
    info.type = "list of texts";
    info.default_value = fmt::format("{}", fmt::join(key.at(defaults), ", "));
    info.range = "at least one";
  }
  void operator()(const ChoiceKeyOf<C>& key) const {
    info.type = "word";
    const std::size_t position = key.get(defaults);
    info.default_value = position < key.names.size() ? key.names[position] : "";
    info.range = fmt::format("{}", fmt::join(key.names, ", "));
  }
  void operator()(const FlagKeyOf<C>& key) const {
    info.type = "true or false";
    info.default_value = key.at(defaults) ? "true" : "false";
    info.range = "true, false";
  }
  void operator()(const TextKeyOf<C>& key) const {
    info.type = "text";
    info.default_value = key.at(defaults);
    info.range = "not empty";
  }
  // No default: a name has to be given.
  void operator()(const NameKeyOf<C>& /*key*/) const {
    info.type = "name";
    info.range = kNameRange;
  }
  void operator()(const EndpointKeyOf<C>& /*key*/) const {
    info.type = "endpoint";
    info.range = "HOST:PORT, [IPV6]:PORT";
  }
  void operator()(const CountsKeyOf<C>& key) const {
    info.type = "table of whole numbers";
    info.range = fmt::format("each from {} .. {}", key.low, key.high);
  }
};

/// Says what would be right.
template <class C>
struct Wanted {
  std::string operator()(const WholeKeyOf<C>& key) const {
    return fmt::format("a whole number from {} to {}", key.low, key.high);
  }
  std::string operator()(const NumberKeyOf<C>& key) const { return describe(key.range); }
  std::string operator()(const TimeKeyOf<C>& key) const {
    return fmt::format("a duration from {} to {}: {}", duration_text(key.low),
                       duration_text(key.high), kDurationForms);
  }
  std::string operator()(const PathKeyOf<C>& /*key*/) const {
    return "the path of a file, which may begin with ${MUSTER_DATA}";
  }
  std::string operator()(const ListKeyOf<C>& /*key*/) const {
    return "a list of one or more texts that are not empty";
  }
  std::string operator()(const ChoiceKeyOf<C>& key) const {
    return fmt::format("one of \"{}\"", fmt::join(key.names, "\", \""));
  }
  std::string operator()(const FlagKeyOf<C>& /*key*/) const { return "true or false"; }
  std::string operator()(const TextKeyOf<C>& /*key*/) const { return "a text that is not empty"; }
  std::string operator()(const NameKeyOf<C>& /*key*/) const {
    return fmt::format("a name: {}", kNameRange);
  }
  std::string operator()(const EndpointKeyOf<C>& /*key*/) const {
    return "a host with a port from 1 to 65535, like \"10.0.0.1:7800\" or \"[::1]:7800\"";
  }
  std::string operator()(const CountsKeyOf<C>& key) const {
    return fmt::format(
        "a table of texts in quotes with whole numbers from {} to {}, like {{ \"a.b\" = {} }}",
        key.low, key.high, key.high);
  }
};

/// Writes values so that Set of the same kind takes them over again.
template <class C>
struct Write {
  C& config;

  std::string operator()(const WholeKeyOf<C>& key) const {
    return std::visit([&](auto at) { return text_of(at(config)); }, key.at);
  }
  std::string operator()(const NumberKeyOf<C>& key) const { return number_text(key.at(config)); }
  std::string operator()(const TimeKeyOf<C>& key) const {
    return quoted(duration_text(key.at(config)));
  }
  std::string operator()(const PathKeyOf<C>& key) const { return some(key.at(config).string()); }
  std::string operator()(const ListKeyOf<C>& key) const {
    toml::array texts;
    for (const std::string& text : key.at(config)) texts.push_back(text);
    return texts.empty() ? "" : written(texts);
  }
  std::string operator()(const ChoiceKeyOf<C>& key) const {
    const std::size_t position = key.get(config);
    return position < key.names.size() ? quoted(key.names[position]) : "";
  }
  std::string operator()(const FlagKeyOf<C>& key) const {
    return key.at(config) ? "true" : "false";
  }
  std::string operator()(const TextKeyOf<C>& key) const { return some(key.at(config)); }
  std::string operator()(const NameKeyOf<C>& key) const {
    return std::visit([&](auto at) { return some(at(config)); }, key.at);
  }
  std::string operator()(const EndpointKeyOf<C>& key) const {
    return std::visit([&](auto at) { return some(at(config)); }, key.at);
  }
  std::string operator()(const CountsKeyOf<C>& key) const {
    toml::table counts;
    // toml has signed integers only.
    for (const auto& [name, count] : key.at(config)) {
      counts.insert(name, static_cast<std::int64_t>(count));
    }
    // Inline, since the value stands on one line with its key.
    counts.is_inline(true);
    return counts.empty() ? "" : written(counts);
  }

 private:
  // Empty means "not set": the caller leaves the key out, since an empty text could not be read.
  static std::string some(const std::string& text) { return text.empty() ? "" : quoted(text); }
  static std::string some(const Endpoint& endpoint) {
    return endpoint.port == 0 ? "" : quoted(to_text(endpoint));
  }
  template <class T>
  static std::string some(const std::optional<T>& value) {
    return value ? some(*value) : "";
  }
};

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName &&
         text.find_first_not_of(kNameLetters) == std::string_view::npos;
}

template <class C>
std::string wanted(const KeySpecOf<C>& key) {
  std::string text = std::visit(Wanted<C>{}, key.kind);
  const bool is_amount = std::holds_alternative<WholeKeyOf<C>>(key.kind) ||
                         std::holds_alternative<NumberKeyOf<C>>(key.kind);
  if (is_amount && bytes_of_key(key.name) > 0) text += fmt::format(", or {}", kBytesForms);
  return text;
}

template <class C>
KeyInfo info_of(const KeySpecOf<C>& key) {
  // `defaults` is not const: `at` of a key gives a reference that can be written to.
  C defaults;
  KeyInfo info;
  info.key = key.name;
  info.meaning = key.meaning;
  std::visit(Describe<C>{info, defaults}, key.kind);
  // A required key has a default in the struct, which must not be relied on.
  if (key.required) info.default_value = "required";
  return info;
}

template <class C>
std::string value_text(C& config, const KeySpecOf<C>& key) {
  return std::visit(Write<C>{config}, key.kind);
}

// Every config that has a table of keys is named here, so that the templates stay in this file.
template std::string wanted(const KeySpecOf<ReplayConfig>&);
template std::string wanted(const KeySpecOf<ClusterConfig>&);
template std::string wanted(const KeySpecOf<NodeConfig>&);
template std::string wanted(const KeySpecOf<WorkerConfig>&);
template KeyInfo info_of(const KeySpecOf<ReplayConfig>&);
template KeyInfo info_of(const KeySpecOf<ClusterConfig>&);
template KeyInfo info_of(const KeySpecOf<NodeConfig>&);
template KeyInfo info_of(const KeySpecOf<WorkerConfig>&);
template std::string value_text(ReplayConfig&, const KeySpecOf<ReplayConfig>&);
template std::string value_text(ClusterConfig&, const KeySpecOf<ClusterConfig>&);
template std::string value_text(NodeConfig&, const KeySpecOf<NodeConfig>&);
template std::string value_text(WorkerConfig&, const KeySpecOf<WorkerConfig>&);

}  // namespace muster::config
