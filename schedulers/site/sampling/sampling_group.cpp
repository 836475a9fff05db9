#include "schedulers/site/sampling/sampling_group.hpp"

namespace muster::sampling {

bool GroupShared::has_place(const SampledJob& job) const {
  for (WorkerIndex worker = 0; worker < roster.size(); ++worker) {
    if (roster.demand(job, worker) == nullptr) continue;
    if (!job.is_long || !is_reserved(params, roster.size(), worker)) return true;
  }
  return false;
}

GroupMembership GroupShared::membership(WorkerIndex worker) const {
  GroupMembership group;
  group.index = worker;
  group.rules = params.queue;
  group.network_delay = params.network_delay;
  if (params.system == System::pigeon) {
    const std::uint32_t master = pigeon_group_of(params.pigeon, roster.size(), worker);
    group.all_ends = {schedulers[0], schedulers[1 + master]};
    return group;
  }
  group.short_jobs = schedulers[0];
  if (params.system == System::eagle) group.long_jobs = schedulers[1];
  return group;
}

void GroupShared::clear() {
  schedulers.clear();
  members.clear();
  site = nullptr;
}

}  // namespace muster::sampling
