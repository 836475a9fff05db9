#include "replay/sampling_run.hpp"

#include <utility>

#include "replay/sampling/fleet_manager.hpp"
#include "replay/sampling/group_site.hpp"
#include "replay/sampling/scheduler_actor.hpp"

// Spawns the actors of a sampling group for a replay: its schedulers, the site that takes jobs in,
// and the manager of the fixed fleet.

namespace muster::replay {

std::string sampling_fault(const sampling::Composition& composition, const Fleet& fleet,
                           const Catalog& catalog, const JobSource& workload) {
  std::size_t workers = 0;
  for (const FleetShare& share : fleet) {
    workers += share.count;
    if (share.count == 0 || share.market == Market::on_demand) continue;
    return "knows nothing of spot instances; master.fleet has " + std::to_string(share.count) +
           " of type " + catalog[share.type].name;
  }
  if (std::string fault = composition.fault(workers); !fault.empty()) return fault;
  for (std::size_t i = 0; i < workload.size(); ++i) {
    const WorkloadJob entry = workload.job(i);
    const Job& job = entry.job;
    const std::string name = "job " + std::to_string(job.id.value) + " (" + job.name + ") ";
    if (job.service() != nullptr) {
      return "runs tasks to their end; " + name + "is a service";
    }
    if (job.gang && job.tasks.size() > 1) {
      return "starts each task as soon as it can; " + name + "is a gang of " +
             std::to_string(job.tasks.size()) + " (gang has to be false)";
    }
    const std::uint32_t most = job.most_an_instance;
    if (most > 0 && most < job.tasks.size()) {
      const std::string wish =
          most == 1 ? "wants distinct instances" : "has most_an_instance = " + std::to_string(most);
      return "does not keep the tasks of a job apart; " + name + wish;
    }
    if (job.max_running > 0 && job.max_running < job.tasks.size()) {
      return "runs all tasks of a job at once; " + name + "allows " +
             std::to_string(job.max_running);
    }
  }
  return {};
}

SamplingRun::SamplingRun(caf::actor_system& system, const SamplingSetup& setup)
    : event_log_(*setup.catalog, *setup.journal) {
  shared_.composition = setup.composition;
  shared_.params = setup.composition->params();
  shared_.catalog = setup.catalog;
  shared_.origin = setup.origin;
  shared_.event_log = &event_log_;
  for (auto& scheduler : setup.composition->make_schedulers(setup.seed)) {
    shared_.schedulers.push_back(
        system.spawn<sampling::SchedulerActor>(std::ref(shared_), std::move(scheduler)));
  }
  shared_.site = system.spawn<sampling::GroupSite>(std::ref(shared_));
  actors_.doors = {shared_.site};
  actors_.owners = {
      system.spawn<sampling::FleetManager>(std::ref(shared_), setup.fleet, setup.cloud)};
}

void RunActors::end() const {
  for (const SiteForSubmitters& door : doors) {
    caf::anon_send_exit(door, caf::exit_reason::kill);
  }
  for (const FleetOwner& owner : owners) {
    caf::anon_send_exit(owner, caf::exit_reason::kill);
  }
}

void SamplingRun::end() {
  for (const GroupScheduler& scheduler : shared_.schedulers) {
    caf::anon_send_exit(scheduler, caf::exit_reason::kill);
  }
  // The handles in it point at each other's actors and would keep them all.
  shared_.clear();
}

}  // namespace muster::replay
