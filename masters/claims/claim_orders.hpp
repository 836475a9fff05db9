#pragma once

#include "config/master_settings.hpp"
#include "masters/instances/spend_guard.hpp"
#include "masters/master_commands.hpp"

namespace muster {

/// Carries claims out (see Claims): says which instances close for a job, puts it on one of them as
/// soon as it has room there, and has those given back that have emptied for what is to be rented
/// for it. The renting itself is the policy's.
class ClaimOrders {
 public:
  ClaimOrders(const MasterCommands& commands, const SpendGuard& guard,
              const MasterSettings& settings);

  /// Before a round; whether anything has changed. `cloud_ahead`: of the cloud's clock before
  /// `now`. O(what is closed), and for each new claim what choose_room() takes.
  bool serve(Instant now, Duration cloud_ahead);

 private:
  const ClusterState& state() const { return commands_.recorder.facts().state; }
  bool claim(const JobRow& job, Instant now);
  void claim_for_the_first(Instant now, Duration cloud_ahead);
  void give_room(Instant now);
  bool place(const TaskRow& task, const InstanceRow& row, Instant now);

  MasterCommands commands_;
  const SpendGuard& guard_;
  MasterSettings settings_;
};

}  // namespace muster
