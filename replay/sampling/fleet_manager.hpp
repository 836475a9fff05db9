#pragma once

#include <map>
#include <vector>

#include "model/fleet.hpp"
#include "replay/sampling/sampling_group.hpp"

namespace muster::sampling {

/// The messages of a master that has workers and no jobs.
using FleetManagerActor =
    Together<MasterForWorkers, MasterForCloud, caf::typed_actor<DrainInstance>, OwnSteps>;

/// The master of a sampling group's workers: rents its fixed fleet, opens the group when every
/// instance is there or was refused, writes down what the workers report and ends what is not
/// wanted any more. It decides nothing about tasks; jobs go to the group's site.
class FleetManager : public FleetManagerActor::base {
 public:
  /// The group has to outlive the actor.
  FleetManager(caf::actor_config& config, GroupShared& group, const Fleet& fleet,
               CloudForMasters cloud);
  const char* name() const override { return "muster.fleet-manager"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  struct Rented {
    TypeId type;
    bool up = false;
    WorkerActor worker;  ///< null until it has said hello
    bool ended = false;
  };

  void rent();
  caf::result<InstanceId> give_back(InstanceId id);
  void on_hello(InstanceId id, const WorkerActor& worker);
  void on_worker(const WorkerReport& report);
  void on_cloud(const CloudReport& report);
  void open_when_complete();

  GroupShared& group_;
  ActorTimer<FleetManagerActor, FleetManager> timer_;
  Fleet fleet_;
  CloudForMasters cloud_;
  std::map<InstanceId, Rented> rented_;
  std::size_t expected_ = 0;  ///< instances that are neither ready nor refused
};

}  // namespace muster::sampling
