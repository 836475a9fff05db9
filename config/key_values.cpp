#include "config/key_values.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "config/cluster_config.hpp"
#include "config/replay_config.hpp"
#include "config/worker_config.hpp"

// One function a kind of key checks type and range together: the documented range is the one that
// is taken.

namespace muster::config {
namespace {

std::optional<Duration> time_of(const toml::node& value) {
  // Written out and read again, so that a decimal number of seconds is exact.
  if (const auto* whole = value.as_integer()) return parse_duration(std::to_string(**whole));
  if (const auto* number = value.as_floating_point()) {
    return parse_duration(number_text(**number));
  }
  if (const auto* text = value.as_string()) return parse_duration(**text);
  return std::nullopt;
}

/// Takes a value of one kind of key over; false when it does not suit.
template <class C>
struct Set {
  C& config;
  const toml::node& value;

  bool operator()(const WholeKeyOf<C>& key) const {
    const auto* node = value.as_integer();
    // Checked before the cast: a negative number would become a huge one.
    // TOML's numbers are signed.
    if (node == nullptr || **node < 0) return false;
    const auto number = static_cast<std::uint64_t>(**node);
    if (number < key.low || number > key.high) return false;
    std::visit(
        [&](auto at) {
          auto& field = at(config);
          if constexpr (std::is_same_v<decltype(field), std::optional<std::uint32_t>&>) {
            field = static_cast<std::uint32_t>(number);
          } else {
            field = static_cast<std::remove_reference_t<decltype(field)>>(number);
          }
        },
        key.at);
    return true;
  }

  bool operator()(const NumberKeyOf<C>& key) const {
    if (!value.is_number()) return false;
    const double number = value.value<double>().value_or(0);
    if (!key.range.contains(number)) return false;
    key.at(config) = number;
    return true;
  }

  bool operator()(const TimeKeyOf<C>& key) const {
    const std::optional<Duration> time = time_of(value);
    if (!time || *time < key.low || *time > key.high) return false;
    key.at(config) = *time;
    return true;
  }

  bool operator()(const PathKeyOf<C>& key) const {
    const auto* text = value.as_string();
    if (text == nullptr || text->get().empty()) return false;
    key.at(config) = text->get();
    return true;
  }

  bool operator()(const ListKeyOf<C>& key) const {
    const auto* array = value.as_array();
    // A list that is not given keeps its default; an empty one would mean something else.
    if (array == nullptr || array->empty()) return false;
    // Collected first: a list with one wrong element leaves the config as it was.
    std::vector<std::string> texts;
    for (const toml::node& element : *array) {
      const auto* text = element.as_string();
      if (text == nullptr || text->get().empty()) return false;
      texts.push_back(text->get());
    }
    key.at(config) = std::move(texts);
    return true;
  }

  bool operator()(const ChoiceKeyOf<C>& key) const {
    const auto* text = value.as_string();
    if (text == nullptr) return false;
    const auto name = std::find(key.names.begin(), key.names.end(), text->get());
    if (name == key.names.end()) return false;
    key.set(config, static_cast<std::size_t>(name - key.names.begin()));
    return true;
  }

  bool operator()(const FlagKeyOf<C>& key) const {
    const auto* flag = value.as_boolean();
    if (flag == nullptr) return false;
    key.at(config) = flag->get();
    return true;
  }

  bool operator()(const TextKeyOf<C>& key) const {
    const auto* text = value.as_string();
    if (text == nullptr || text->get().empty()) return false;
    key.at(config) = text->get();
    return true;
  }

  bool operator()(const NameKeyOf<C>& key) const {
    const auto* text = value.as_string();
    if (text == nullptr || !is_name(text->get())) return false;
    std::visit([&](auto at) { at(config) = text->get(); }, key.at);
    return true;
  }

  bool operator()(const EndpointKeyOf<C>& key) const {
    const auto* text = value.as_string();
    if (text == nullptr) return false;
    const std::optional<Endpoint> endpoint = parse_endpoint(text->get());
    if (!endpoint) return false;
    std::visit([&](auto at) { at(config) = *endpoint; }, key.at);
    return true;
  }

  bool operator()(const CountsKeyOf<C>& key) const {
    const auto* table = value.as_table();
    if (table == nullptr) return false;
    std::map<std::string, std::uint32_t> counts;
    for (const auto& [name, node] : *table) {
      // The whole table or nothing, as with lists.
      const auto* count = node.as_integer();
      if (name.str().empty() || count == nullptr) return false;
      if (**count < key.low || **count > key.high) return false;
      counts[std::string(name.str())] = static_cast<std::uint32_t>(**count);
    }
    key.at(config) = std::move(counts);
    return true;
  }
};

/// The text as one TOML value, or null when it is not one.
std::unique_ptr<toml::node> as_toml(const std::string& text) {
  try {
    toml::table table = toml::parse("value = " + text);
    // Text with a line break could bring more keys: it is no value.
    if (table.size() != 1) return nullptr;
    const toml::node& only = table.begin()->second;
    return only.visit([](const auto& node) -> std::unique_ptr<toml::node> {
      return std::make_unique<std::decay_t<decltype(node)>>(node);
    });
  } catch (const toml::parse_error&) {
    return nullptr;
  }
}

}  // namespace

double bytes_of_key(std::string_view name) {
  if (name.ends_with("_bytes")) return 1;
  if (name.ends_with("_mib")) return 1024.0 * 1024;
  return name.ends_with("_gib") ? 1024.0 * 1024 * 1024 : 0;
}

template <class C>
bool set_value(C& config, const KeySpecOf<C>& key, const toml::node& value) {
  const auto* text = value.as_string();
  const double unit = bytes_of_key(key.name);
  const bool is_whole = std::holds_alternative<WholeKeyOf<C>>(key.kind);
  if (text == nullptr || unit == 0 ||
      !(is_whole || std::holds_alternative<NumberKeyOf<C>>(key.kind))) {
    return std::visit(Set<C>{config, value}, key.kind);
  }
  constexpr double kMost = 9e18;  // within 64 bits
  const std::optional<double> bytes = parse_bytes(**text, unit);
  const double amount = bytes.value_or(-1) / unit;
  if (!bytes || amount < 0 || amount > kMost) return false;
  if (!is_whole) return std::visit(Set<C>{config, toml::value<double>(amount)}, key.kind);
  if (std::floor(amount) != amount) return false;
  return std::visit(Set<C>{config, toml::value<std::int64_t>(static_cast<std::int64_t>(amount))},
                    key.kind);
}

std::string written(const toml::node& value) {
  std::ostringstream out;
  out << toml::node_view<const toml::node>(value);
  return std::move(out).str();
}

template <class C>
// Overrides come from a command line, whose shell has taken quotes away already.
bool set_from_text(C& config, const KeySpecOf<C>& key, const std::string& text) {
  std::string plain = text;
  // As TOML first, so that `true` and `5` are what they look like; then as text, for which quotes
  // are a burden on a command line.
  if (const auto value = as_toml(text)) {
    if (set_value(config, key, *value)) return true;
    // A list that does not suit was meant as one, and not as a text in brackets.
    if (value->is_array() && std::holds_alternative<ListKeyOf<C>>(key.kind)) return false;
    if (const auto* quoted = value->as_string()) plain = quoted->get();
  }
  if (!std::holds_alternative<ListKeyOf<C>>(key.kind)) {
    return set_value(config, key, toml::value<std::string>(plain));
  }
  // A list of one needs no brackets.
  return set_value(config, key, toml::array{plain});
}

template bool set_value(ReplayConfig&, const KeySpecOf<ReplayConfig>&, const toml::node&);
template bool set_value(ClusterConfig&, const KeySpecOf<ClusterConfig>&, const toml::node&);
template bool set_value(NodeConfig&, const KeySpecOf<NodeConfig>&, const toml::node&);
template bool set_value(WorkerConfig&, const KeySpecOf<WorkerConfig>&, const toml::node&);
template bool set_from_text(ReplayConfig&, const KeySpecOf<ReplayConfig>&, const std::string&);
template bool set_from_text(ClusterConfig&, const KeySpecOf<ClusterConfig>&, const std::string&);
template bool set_from_text(NodeConfig&, const KeySpecOf<NodeConfig>&, const std::string&);
template bool set_from_text(WorkerConfig&, const KeySpecOf<WorkerConfig>&, const std::string&);

}  // namespace muster::config
