#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "schedulers/policy.hpp"

namespace muster {

/// Lets any policy keep the tasks of a job apart that wants them on distinct instances
/// (Job::distinct_instances): what the policy puts together gets places of its own. A task that
/// waits goes, where instances are rented, on one of the cheapest type of the same market that
/// holds it, and where they are given on the first that has room; without one the master's check of
/// the plan refuses its place. A task that runs is not moved to where another of its job is, for
/// the same reason. Policies that think of the wish themselves leave nothing to do here.
class DistinctInstances final : public Policy {
 public:
  explicit DistinctInstances(std::unique_ptr<Policy> policy) : policy_(std::move(policy)) {}

  Cadence cadence() const override { return policy_->cadence(); }
  Cadence fleet_cadence() const override { return policy_->fleet_cadence(); }
  void observe(const Event& event, const ClusterView& view) override {
    policy_->observe(event, view);
  }
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView& view) const override { return policy_->settled(view); }
  std::string save_state(const ClusterState& state) const override {
    return policy_->save_state(state);
  }
  bool load_state(std::string_view text, const ClusterView& view) override {
    return policy_->load_state(text, view);
  }
  /// The one that it stands around.
  const Policy& policy() const { return *policy_; }
  std::unique_ptr<Policy> clone() const override {
    return std::make_unique<DistinctInstances>(policy_->clone());
  }

 private:
  std::unique_ptr<Policy> policy_;
};

}  // namespace muster
