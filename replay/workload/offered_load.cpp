#include "replay/workload/offered_load.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "replay/workload/readers.hpp"

// Offered load: of each resource, the work of all jobs (demand x seconds) over what the fleet has
// during the time in which jobs are submitted; the greatest of these. Scaling the times of
// submission by f divides it by f.

namespace muster::replay {
namespace {

const FamilyDemand* demand_on(const TaskSpec& task, const Fleet& fleet, const Catalog& catalog) {
  for (const FleetShare& share : fleet) {
    const FamilyDemand* demand = task.demands.on(catalog[share.type].family);
    if (demand != nullptr) return demand;
  }
  return nullptr;
}

Resources scaled(const Resources& amount, double factor) {
  Resources product;
  for (const Resource kind : kAllResources) product[kind] = amount[kind] * factor;
  return product;
}

/// Demand x seconds of all tasks of the job; of an elastic one, whose work is that of one worker,
/// of the first.
Resources work_of(const WorkloadJob& job, const Fleet& fleet, const Catalog& catalog) {
  Resources work;
  const std::size_t tasks = job.truth.elastic ? 1 : job.job.tasks.size();
  for (std::size_t i = 0; i < tasks; ++i) {
    const FamilyDemand* demand = demand_on(job.job.tasks[i], fleet, catalog);
    if (demand == nullptr) continue;
    const double pace = job.truth.iterations_per_s * demand->speed;
    work += scaled(demand->amount, job.truth.work_of(i) / pace);
  }
  return work;
}

}  // namespace

std::optional<double> offered_load(const JobSource& jobs, const Fleet& fleet,
                                   const Catalog& catalog) {
  if (jobs.size() == 0) return std::nullopt;
  // Jobs are in the order of their submission.
  const double span_s = to_seconds(jobs.submit(jobs.size() - 1) - jobs.submit(0));
  Resources capacity;
  for (const FleetShare& share : fleet) {
    capacity += scaled(catalog[share.type].capacity, share.count);
  }
  Resources work;
  for (std::size_t i = 0; i < jobs.size(); ++i) work += work_of(jobs.job(i), fleet, catalog);
  double load = 0;
  for (const Resource kind : kAllResources) {
    // A kind that the fleet lacks cannot bound it; jobs that are all submitted at once have no
    // rate.
    if (capacity[kind] <= kResourceEpsilon || span_s <= 0) continue;
    load = std::max(load, work[kind] / (capacity[kind] * span_s));
  }
  if (load <= 0) return std::nullopt;
  return load;
}

Expected<CompactWorkload, WorkloadError> with_load(CompactWorkload workload, const Fleet& fleet,
                                                   const Catalog& catalog, double load) {
  const std::optional<double> offered = offered_load(workload, fleet, catalog);
  if (!offered) {
    return Failure<WorkloadError>{
        WorkloadError::invalid,
        fmt::format("workload.load: the load of {} cannot be set: all its jobs are submitted at "
                    "once, or ask for nothing that the fleet has",
                    workload.description)};
  }
  auto scaled = with_times_scaled(std::move(workload), *offered / load);
  if (scaled) scaled->description += fmt::format(" (load {} on the fleet)", number_text(load));
  return scaled;
}

}  // namespace muster::replay
