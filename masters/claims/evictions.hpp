#pragma once

#include "masters/instances/fleet_keeper.hpp"
#include "masters/instances/spend_guard.hpp"
#include "masters/master_commands.hpp"
#include "masters/services/services.hpp"

namespace muster {

/// Takes tasks off instances and gives these back, because a notice, a user, a lost worker or the
/// day's cap calls for it.
class Evictions {
 public:
  struct Parts {
    SpendGuard& guard;
    FleetKeeper& fleet;
    Services& services;
  };
  Evictions(const MasterCommands& commands, const Parts& parts);

  /// Takes every task off the instance and gives it back. False when it is not there. Replicas of
  /// services that a user or a notice wants to leave do so when others do without them.
  bool evict(InstanceId id, CauseCode why, Instant now);
  /// Releases it, and has it ended with the tasks on it. Its tasks wait again when it is gone.
  bool abandon(InstanceId id, CauseCode why, Instant now);
  /// Does what the day's cap asks for.
  void keep_caps(Instant now);

 private:
  const ClusterState& state() const { return commands_.recorder.facts().state; }
  void stop_occupants(const InstanceRow& row, CauseCode why, Instant now);
  void release(const InstanceRow& row, CauseCode why, Instant now);

  MasterCommands commands_;
  SpendGuard& guard_;
  FleetKeeper& fleet_;
  Services& services_;
};

}  // namespace muster
