#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schedulers/hcoop/placement_round.hpp"

namespace muster::hcoop {

/// The master of HCoop: packs waiting tasks that complement each other and puts each pack onto the
/// instance that it fits best; tasks of long jobs on regular instances (CDRS), those of short jobs
/// on spot instances where that is safe (SORS). It never moves a task. It keeps indexes of its own,
/// so that a round costs what has changed since the last one, not what there is.
/// schedulers/hcoop/README.md says what the paper leaves open.
class HcoopPolicy final : public Policy {
 public:
  /// The catalog has to outlive the policy.
  HcoopPolicy(const Catalog& catalog, const HcoopParams& params);

  Cadence cadence() const override;
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  /// An instance that stands empty is given back after a while.
  bool settled(const ClusterView& view) const override {
    return !view.rents() || free_capacity_.empty().empty();
  }

  /// The order of the queues, what is packed, the interruptions, and what the next round looks at.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  std::unique_ptr<Policy> clone() const override { return std::make_unique<HcoopPolicy>(*this); }

 private:
  void rebuild(const ClusterView& view);
  void rebuild_free_capacity(const ClusterView& view);
  Plan hold_round(const ClusterView& view);
  void end_round(const ClusterView& view);
  void follow(const Event& event, const ClusterView& view);
  std::vector<Slot> new_at_the_end(const ClusterState& state) const;
  void follow_task(Slot slot, const ClusterView& view);
  void note_interruptions(const Event& event, const ClusterState& state,
                          const std::vector<Slot>& changed);
  void take_back_refused();

  const Catalog* catalog_;
  HcoopParams params_;
  FeasibleTypes feasible_types_;
  FreeCapacityIndex free_capacity_;
  WaitingTasks waiting_;
  bool built_ = false;  ///< the indexes are those of the state
  /// A cache: the round whose RoundDecided comes next was held by decide() already, and observing
  /// that event would have an equal result.
  bool ahead_ = false;
  std::vector<PlacementUnitId> in_flight_;  ///< units that the last plan had places for
  RetryMark retry_;
  Instant next_retry_{};
};

}  // namespace muster::hcoop
