#include "schedulers/stratus/stratus_policy.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "schedulers/stratus/artifact_round.hpp"

namespace muster::stratus {

using nlohmann::json;

void StratusPolicy::observe(const Event& event, const ClusterView& view) {
  EventPolicy::observe(event, view);
  // An instance that is used again begins anew, also if it is not any more at the next scheduling
  // event.
  const auto* assigned = std::get_if<TaskAssigned>(&event.body);
  if (assigned == nullptr) return;
  const InstanceRow* row = view.state.find(assigned->to);
  if (row != nullptr && !is_low(*row, view.catalog, params_.clearing)) low_.erase(assigned->to);
}

void StratusPolicy::end_event(const ClusterView& view) {
  LowCounts now;
  if (view.rents() && params_.clearing.on) {
    for (const InstanceRow& row : view.state.instances()) {
      if (!is_low(row, view.catalog, params_.clearing)) continue;
      const auto known = low_.find(row.id);
      const std::uint32_t before = known == low_.end() ? 0 : known->second;
      // More makes no difference.
      now[row.id] = std::min(before + 1, params_.clearing.after);
    }
  }
  low_ = std::move(now);
}

EventPolicy::Decision StratusPolicy::hold_event(const ClusterView& view) {
  input_.gather({view, MarketChoice::any}, prices_, kinds_);
  if (params_.artifact) {
    return {ArtifactRound({view, params_, prices_, input_, kinds_}).run(),
            !input_.changes_with_time()};
  }
  StratusRound round({view, params_, prices_, input_, groups_, low_});
  Plan plan = round.run();
  return {std::move(plan), !round.waits_for_time()};
}

std::string StratusPolicy::save_state(const ClusterState& state) const {
  json all{{"events", EventPolicy::save_state(state)}, {"low", json::array()}};
  for (const auto& [id, count] : low_) all["low"].push_back({id.value, count});
  return all.dump();
}

bool StratusPolicy::load_state(std::string_view text, const ClusterView& view) {
  low_.clear();
  const json all = json::parse(text, nullptr, false);
  const bool whole = all.is_object() && all.contains("events") && all["events"].is_string() &&
                     all.contains("low") && all["low"].is_array();
  const std::string events = whole ? all["events"].get<std::string>() : "";
  if (!EventPolicy::load_state(events, view) || !whole) return false;
  for (const json& line : all["low"]) {
    if (!line.is_array() || line.size() != 2) return false;
    if (!line[0].is_number_unsigned() || !line[1].is_number_unsigned()) return false;
    low_[InstanceId{line[0].get<std::uint64_t>()}] = line[1].get<std::uint32_t>();
  }
  return true;
}

}  // namespace muster::stratus
