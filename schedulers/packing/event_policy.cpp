#include "schedulers/packing/event_policy.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "schedulers/packing/priority_order.hpp"
#include "schedulers/packing/rules.hpp"

namespace muster {

Cadence EventPolicy::cadence() const {
  return {.period = rules_.period,
          .on_arrival = rules_.eager,
          .on_capacity = rules_.eager || rules_.at_once};
}

Cadence EventPolicy::fleet_cadence() const {
  return {.period = rules_.period, .on_arrival = rules_.eager, .on_capacity = rules_.eager};
}

void EventPolicy::observe(const Event& event, const ClusterView& view) {
  idle_.observe(event, view.state);
  // Rounds between scheduling events leave no choice in their notes and nothing to remember.
  const auto* round = std::get_if<RoundDecided>(&event.body);
  if (round == nullptr || round->note.choice.empty()) return;
  if (last_event_ == period_of(view.now)) return;
  last_event_ = period_of(view.now);
  end_event(view);
}

Plan EventPolicy::decide(const ClusterView& view, Rng&, Budget&) {
  settled_ = false;
  if (!rules_.eager && last_event_ == period_of(view.now)) {
    Plan plan;
    if (view.rents()) plan.releases = idle_.releases(view);
    return plan;
  }
  Decision decision = hold_event(view);
  order_by_priority(view, decision.plan);
  tell_who_is_kept_apart(view, decision.plan);
  decision.plan.note.choice = "event";
  settled_ = decision.settled;
  return std::move(decision.plan);
}

std::string EventPolicy::save_state(const ClusterState&) const {
  nlohmann::json all{{"last_event", nullptr}};
  if (last_event_) all["last_event"] = *last_event_;
  return all.dump();
}

bool EventPolicy::load_state(std::string_view text, const ClusterView& view) {
  idle_.rebuild(view.state);
  last_event_.reset();
  const auto all = nlohmann::json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("last_event")) return false;
  if (all["last_event"].is_null()) return true;
  if (!all["last_event"].is_number_integer()) return false;
  last_event_ = all["last_event"].get<std::int64_t>();
  return true;
}

}  // namespace muster
