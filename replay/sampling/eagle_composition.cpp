#include "replay/sampling/eagle_composition.hpp"

#include "schedulers/sampling/central_scheduler.hpp"

namespace muster::sampling {
namespace {

/// Positions of the schedulers.
constexpr std::size_t kProbing = 0;
constexpr std::size_t kCentral = 1;

}  // namespace

std::string EagleComposition::fault(std::size_t workers) const {
  constexpr std::size_t kFewest = 2;
  if (workers == 0 || workers >= kFewest) return Composition::fault(workers);
  return "needs two workers at least, one of them for short tasks; the fleet has " +
         std::to_string(workers);
}

std::vector<std::unique_ptr<Scheduler>> EagleComposition::make_schedulers(
    std::uint64_t seed) const {
  std::vector<std::unique_ptr<Scheduler>> schedulers;
  schedulers.push_back(std::make_unique<ProbeScheduler>(params().probes, seed));
  schedulers.push_back(std::make_unique<CentralScheduler>(
      CentralRules{params().probes.short_partition, params().network_delay}));
  return schedulers;
}

std::size_t EagleComposition::scheduler_for(const SampledJob& job) const {
  return job.is_long ? kCentral : kProbing;
}

bool EagleComposition::is_reserved(WorkerIndex worker, std::size_t workers) const {
  return worker < short_workers(params().probes.short_partition, workers);
}

void EagleComposition::connect(GroupMembership& group,
                               const std::vector<GroupScheduler>& schedulers,
                               std::size_t /*workers*/) const {
  group.short_jobs = schedulers[kProbing];
  group.long_jobs = schedulers[kCentral];
}

}  // namespace muster::sampling
