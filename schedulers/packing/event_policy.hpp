#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "schedulers/packing/rounds/idle_instances.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// When a policy that decides in batches does so.
struct EventRules {
  Duration period{std::chrono::seconds{60}};  ///< between two scheduling events
  bool eager = false;   ///< a scheduling event when a job comes or resources come free, too
  bool at_once = true;  ///< an instance goes back as soon as it is empty, not at the next event
};

/// A policy that places tasks at scheduling events: the first round of each period. In the rounds
/// between, which are held when resources come free, it gives empty instances back and does nothing
/// else, at a cost that does not depend on how many there are.
class EventPolicy : public Policy {
 public:
  explicit EventPolicy(const EventRules& rules) : rules_(rules) {}

  Cadence cadence() const override;
  /// Nothing is given back where the instances are given.
  Cadence fleet_cadence() const override;
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView&) const override { return settled_; }

  /// When the last scheduling event was.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;

 protected:
  struct Decision {
    Plan plan;
    bool settled = true;  ///< see Policy::settled(), if the plan changes nothing
  };
  /// The plan is listed by the priority of jobs afterwards.
  virtual Decision hold_event(const ClusterView& view) = 0;
  /// The first event of a period was decided on this view; those that are eager do not count.
  virtual void end_event(const ClusterView&) {}

 private:
  std::int64_t period_of(Instant now) const { return now.time_since_epoch() / rules_.period; }

  EventRules rules_;
  IdleInstances idle_;
  std::optional<std::int64_t> last_event_;  ///< the number of its period
  bool settled_ = false;                    ///< a cache: of the last decision
};

}  // namespace muster
