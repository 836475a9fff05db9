#pragma once

#include <map>
#include <vector>

#include "masters/instances/cloud_orders.hpp"

namespace muster {

/// The instances that a master gives back: unused ones are released, and released ones end when
/// their last task has left.
class InstanceReleases final : public EventListener {
 public:
  InstanceReleases(MasterRecorder& recorder, CloudOrders& cloud);

  /// An instance that was meant for tasks which then got no place there, and that has no others, is
  /// given back: it would only take the cloud's room away from what those tasks still lack.
  /// Of a fleet nothing is.
  void release_if_unused(InstanceId id, Instant now);
  /// Ends every released instance that is empty, in the order of their release.
  void end_empty(Instant now);

  void before(const Event& event, const MasterFacts& facts) override;
  void restored(const MasterFacts& facts) override;

 private:
  struct Tracker;

  MasterRecorder& recorder_;
  CloudOrders& cloud_;
  /// Released, waiting for their last task to leave: each with its number in the order of release.
  std::map<InstanceId, std::uint64_t> releasing_;
  std::uint64_t releases_ = 0;
  std::vector<InstanceId> emptied_;  ///< of these, those that may be empty since the last look
};

}  // namespace muster
