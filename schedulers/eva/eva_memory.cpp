// Eva's memory in words: the co-location table, and how often Full Reconfiguration was adopted.
// Classes go by name, since their numbers belong to one state.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "schedulers/eva/eva_policy.hpp"

namespace muster::eva {
namespace {

using nlohmann::json;

class ClassNames {
 public:
  explicit ClassNames(const ClusterState& state) : state_(state) {
    for (std::uint32_t i = 0; i < state.class_count(); ++i) {
      ids_.emplace(state.class_name(ClassId{i}), ClassId{i});
    }
  }
  const std::string& name(ClassId id) const { return state_.class_name(id); }
  std::optional<ClassId> id(const json& name) const {
    if (!name.is_string()) return std::nullopt;
    const auto found = ids_.find(name.get<std::string>());
    return found == ids_.end() ? std::nullopt : std::optional<ClassId>(found->second);
  }

 private:
  const ClusterState& state_;
  std::map<std::string, ClassId> ids_;
};

/// The entry that a line of the table stands for; none when it is not one, or of unknown classes.
std::optional<ColocationEntry> entry_of(const json& line, const ClassNames& names) {
  if (!line.is_array() || line.size() != 4 || !line[1].is_array()) return std::nullopt;
  if (!line[2].is_number() || !line[3].is_number_unsigned()) return std::nullopt;
  const auto task = names.id(line[0]);
  if (!task) return std::nullopt;
  ColocationEntry entry{*task, {}, line[2].get<double>(), line[3].get<std::uint64_t>()};
  // A share of throughput outside [0, 1], or a mean of nothing, would poison every later product.
  if (!(entry.mean >= 0 && entry.mean <= 1) || entry.observations == 0) return std::nullopt;
  for (const json& name : line[1]) {
    const auto neighbour = names.id(name);
    if (!neighbour) return std::nullopt;
    entry.neighbours.push_back(*neighbour);
  }
  std::sort(entry.neighbours.begin(), entry.neighbours.end());
  return entry;
}

}  // namespace

std::string EvaPolicy::save_state(const ClusterState& state) const {
  const ClassNames names(state);
  json table = json::array();
  for (const ColocationEntry& entry : table_.entries()) {
    json neighbours = json::array();
    for (ClassId id : entry.neighbours) neighbours.push_back(names.name(id));
    table.push_back({names.name(entry.task), neighbours, entry.mean, entry.observations});
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
  const ClassNames names(view.state);
  std::vector<ColocationEntry> entries;
  for (const json& line : all["colocation"]) {
    // Text of another cluster or a damaged one: nothing of it is taken over.
    auto entry = entry_of(line, names);
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
