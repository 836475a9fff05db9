#include "replay/sampling/sampling_group.hpp"

namespace muster::sampling {

// O(workers), once a job. Long tasks never run on a reserved worker, which is what is_long decides
// here.
bool GroupShared::has_place(const SampledJob& job) const {
  for (WorkerIndex worker = 0; worker < roster.size(); ++worker) {
    if (roster.demand(job, worker) == nullptr) continue;
    if (!job.is_long || !composition->is_reserved(worker, roster.size())) return true;
  }
  return false;
}

GroupMembership GroupShared::membership(WorkerIndex worker) const {
  GroupMembership group;
  group.index = worker;
  group.rules = params.queue;
  group.network_delay = params.network_delay;
  composition->connect(group, schedulers, roster.size());
  return group;
}

void GroupShared::clear() {
  schedulers.clear();
  members.clear();
  site = nullptr;
}

}  // namespace muster::sampling
