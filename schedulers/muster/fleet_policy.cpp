#include "schedulers/muster/fleet_policy.hpp"

#include "schedulers/muster/fleet_round.hpp"

namespace muster::own {

Plan FleetPolicy::decide(const ClusterView& view, Rng&, Budget&) {
  // A policy that has seen no event yet.
  if (!fleet_.built()) fleet_.rebuild(view);
  if (fleet_.queue().empty()) return {};
  // As observing the round will, which follows since something waits.
  fleet_.pass_time(view, view.now);
  return FleetRound(view, fleet_).run();
}

/// Nothing where no event was seen: the memory begins with the state then.
std::string FleetPolicy::save_state(const ClusterState&) const {
  return fleet_.built() ? fleet_.save() : std::string();
}

bool FleetPolicy::load_state(std::string_view text, const ClusterView& view) {
  return text.empty() || fleet_.load(text, view);
}

}  // namespace muster::own
