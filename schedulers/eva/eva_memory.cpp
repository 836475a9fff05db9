// Eva's memory in words: the co-location table, and how often Full Reconfiguration was adopted.
// Classes go by name, since their numbers belong to one state.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "schedulers/eva/eva_policy.hpp"
#include "schedulers/saved_text.hpp"

namespace muster::eva {
namespace {

using nlohmann::json;

std::optional<ClassId> class_of(const json& name, const ClusterState& state) {
  const auto text = loaded_text(name);
  return text ? state.classes().find(*text) : std::nullopt;
}

/// Null when some class of the entry has been forgotten: it says nothing of any task to come.
json words_of(const ColocationEntry& entry, const ClassTable& classes) {
  const std::string* task = classes.name(entry.task);
  json neighbours = json::array();
  for (ClassId id : entry.neighbours) {
    const std::string* name = classes.name(id);
    if (name == nullptr) return nullptr;
    neighbours.push_back(saved_text(*name));
  }
  if (task == nullptr) return nullptr;
  return {saved_text(*task), neighbours, entry.mean, entry.observations};
}

/// The entry that a line of the table stands for; none when it is not one, or of unknown classes.
std::optional<ColocationEntry> entry_of(const json& line, const ClusterState& state) {
  if (!line.is_array() || line.size() != 4 || !line[1].is_array()) return std::nullopt;
  if (!line[2].is_number() || !line[3].is_number_unsigned()) return std::nullopt;
  const auto task = class_of(line[0], state);
  if (!task) return std::nullopt;
  ColocationEntry entry{*task, {}, line[2].get<double>(), line[3].get<std::uint64_t>()};
  // A share of throughput outside [0, 1], or a mean of nothing, would poison every later product.
  if (!(entry.mean >= 0 && entry.mean <= 1) || entry.observations == 0) return std::nullopt;
  for (const json& name : line[1]) {
    const auto neighbour = class_of(name, state);
    if (!neighbour) return std::nullopt;
    entry.neighbours.push_back(*neighbour);
  }
  std::sort(entry.neighbours.begin(), entry.neighbours.end());
  return entry;
}

}  // namespace

std::string EvaPolicy::save_state(const ClusterState& state) const {
  json table = json::array();
  for (const ColocationEntry& entry : table_.entries()) {
    json words = words_of(entry, state.classes());
    if (!words.is_null()) table.push_back(std::move(words));
  }
  const EventRate& events = lifetime_.events();
  return json{{"colocation", table},
              {"events",
               {events.count(), events.first().time_since_epoch().count(),
                events.last().time_since_epoch().count()}},
              {"full", lifetime_.full_count()}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

bool EvaPolicy::load_state(std::string_view text, const ClusterView& view) {
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("colocation") || !all.contains("events")) return false;
  if (!all.contains("full") || !all["full"].is_number_unsigned()) return false;
  std::vector<ColocationEntry> entries;
  for (const json& line : all["colocation"]) {
    // Text of another cluster or a damaged one: nothing of it is taken over.
    auto entry = entry_of(line, view.state);
    if (!entry) return false;
    entries.push_back(std::move(*entry));
  }
  const json& events = all["events"];
  if (!events.is_array() || events.size() != 3 || !events[0].is_number_unsigned() ||
      !events[1].is_number_integer() || !events[2].is_number_integer()) {
    return false;
  }
  // Made aside and swapped in at the end, so that refused text leaves the policy as it was.
  ColocationTable table(params_.default_pair);
  table.restore(entries);
  table_ = std::move(table);
  lifetime_.restore(
      {events[0].get<std::uint64_t>(), Instant{Duration{events[1].get<std::int64_t>()}},
       Instant{Duration{events[2].get<std::int64_t>()}}},
      all["full"].get<std::uint64_t>());
  return true;
}

}  // namespace muster::eva
