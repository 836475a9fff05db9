#include "schedulers/stratus/stratus_policy.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace muster::stratus {

void StratusPolicy::observe(const Event& event, const ClusterView& view) {
  idle_.observe(event, view.state);
  // What is used again begins anew, also if it is not any more at the next scheduling event.
  if (const auto* assigned = std::get_if<TaskAssigned>(&event.body)) {
    const InstanceRow* row = view.state.find(assigned->to);
    if (row != nullptr && !is_low(*row, view.catalog, params_.clearing)) low_.erase(assigned->to);
  }
  // Rounds between scheduling events leave no note and nothing to remember.
  const auto* round = std::get_if<RoundDecided>(&event.body);
  if (round != nullptr && !round->note.choice.empty()) end_event(view);
}

/// Events beyond one a period, as eager ones, do not count: utilization is looked at over time.
void StratusPolicy::end_event(const ClusterView& view) {
  const std::int64_t period = period_of(view.now);
  if (last_event_ == period) return;
  last_event_ = period;
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

Plan StratusPolicy::decide(const ClusterView& view, Rng&, Budget&) {
  settled_ = false;
  if (!params_.eager && last_event_ == period_of(view.now)) {
    Plan plan;
    if (view.rents()) plan.releases = idle_.releases(view.state);
    return plan;
  }
  input_.gather({view, MarketChoice::any}, prices_, kinds_);
  StratusRound round({view, params_, prices_, input_, groups_, low_});
  Plan plan = round.run();
  settled_ = !round.waits_for_time();
  return plan;
}

std::string StratusPolicy::save_state(const ClusterState&) const {
  nlohmann::json all{{"low", nlohmann::json::array()}};
  if (last_event_) all["last_event"] = *last_event_;
  for (const auto& [id, count] : low_) all["low"].push_back({id.value, count});
  return all.dump();
}

bool StratusPolicy::load_state(std::string_view text, const ClusterView& view) {
  idle_.rebuild(view.state);
  const auto all = nlohmann::json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("low") || !all["low"].is_array()) return false;
  low_.clear();
  last_event_.reset();
  if (all.contains("last_event")) {
    if (!all["last_event"].is_number_integer()) return false;
    last_event_ = all["last_event"].get<std::int64_t>();
  }
  for (const auto& line : all["low"]) {
    if (!line.is_array() || line.size() != 2) return false;
    if (!line[0].is_number_unsigned() || !line[1].is_number_unsigned()) return false;
    low_[InstanceId{line[0].get<std::uint64_t>()}] = line[1].get<std::uint32_t>();
  }
  return true;
}

}  // namespace muster::stratus
