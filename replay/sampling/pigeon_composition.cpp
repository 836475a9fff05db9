#include "replay/sampling/pigeon_composition.hpp"

namespace muster::sampling {

std::string PigeonComposition::fault(std::size_t workers) const {
  const std::uint32_t groups = params().rules.groups;
  if (workers == 0 || groups <= workers) return Composition::fault(workers);
  return "has " + std::to_string(groups) +
         " groups, which need a worker each (parameter groups); the fleet has " +
         std::to_string(workers);
}

std::vector<std::unique_ptr<Scheduler>> PigeonComposition::make_schedulers(
    std::uint64_t seed) const {
  const PigeonRules& rules = params().rules;
  std::vector<std::unique_ptr<Scheduler>> schedulers;
  schedulers.push_back(std::make_unique<PigeonDistributor>(rules, seed));
  for (std::uint32_t i = 0; i < rules.groups; ++i) {
    schedulers.push_back(std::make_unique<PigeonMaster>(rules, i));
  }
  return schedulers;
}

bool PigeonComposition::is_reserved(WorkerIndex worker, std::size_t workers) const {
  const std::uint32_t index = pigeon_group_of(params().rules, workers, worker);
  return pigeon_group(params().rules, workers, index).is_reserved(worker);
}

void PigeonComposition::connect(GroupMembership& group,
                                const std::vector<GroupScheduler>& schedulers,
                                std::size_t workers) const {
  const std::uint32_t master = pigeon_group_of(params().rules, workers, group.index);
  // The distributor counts a job's tasks, the group's master counts its free workers.
  group.all_ends = {schedulers[0], schedulers[1 + master]};
}

}  // namespace muster::sampling
