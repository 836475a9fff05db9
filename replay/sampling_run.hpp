#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/fleet.hpp"
#include "replay/sampling/sampling_group.hpp"
#include "replay/workload/workload.hpp"
#include "serve/group/group.hpp"

namespace muster::replay {

/// Parts of a sampling group.
struct SamplingSetup {
  const Catalog* catalog = nullptr;
  const sampling::Composition* composition = nullptr;  ///< outlives the run
  Journal* journal = nullptr;
  Fleet fleet;
  CloudForMasters cloud;
  ClockOrigin origin;
  std::uint64_t seed = 1;
};

/// The reason why the group cannot run the workload on the fleet; empty when it can.
std::string sampling_fault(const sampling::Composition& composition, const Fleet& fleet,
                           const Catalog& catalog, const JobSource& workload);

/// The owner of a run's workers, whatever decides: they speak to it, and it gives an instance back.
using FleetOwner = MasterForWorkers::extend<DrainInstance>;

/// Actors and clock that a run needs.
struct RunActors {
  RunActors() = default;
  explicit RunActors(const Group& group)
      : doors(group.sites.begin(), group.sites.end()),
        owners(group.masters.begin(), group.masters.end()) {}

  void end() const;

  std::vector<SiteForSubmitters> doors;  ///< where users submit
  std::vector<FleetOwner> owners;        ///< by the number of the master
};

/// The actors of a sampling group, in the place of a site scheduler and a master.
class SamplingRun {
 public:
  SamplingRun(caf::actor_system& system, const SamplingSetup& setup);

  /// Where jobs come in, and the owner of the fleet.
  const RunActors& actors() const { return actors_; }
  /// Ends the schedulers and lets go of all actors; they have to end before this object does.
  void end();

 private:
  sampling::GroupEventLog event_log_;
  sampling::GroupShared shared_;
  RunActors actors_;
};

}  // namespace muster::replay
