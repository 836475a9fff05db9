#include "replay/sampling/sparrow_composition.hpp"

namespace muster::sampling {

std::vector<std::unique_ptr<Scheduler>> SparrowComposition::make_schedulers(
    std::uint64_t seed) const {
  std::vector<std::unique_ptr<Scheduler>> schedulers;
  schedulers.push_back(std::make_unique<ProbeScheduler>(params().probes, seed));
  return schedulers;
}

void SparrowComposition::connect(GroupMembership& group,
                                 const std::vector<GroupScheduler>& schedulers,
                                 std::size_t /*workers*/) const {
  group.short_jobs = schedulers[0];
}

}  // namespace muster::sampling
