#include "schedulers/sampling/central_scheduler.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "schedulers/sampling/probe_scheduler.hpp"

// Waiting times are sums of the estimates that were placed, less what has passed of those that run;
// workers are not asked.

namespace muster::sampling {

void CentralScheduler::open(const Roster& roster, Actions&) {
  roster_ = roster;
  first_ = static_cast<WorkerIndex>(short_workers(rules_.short_partition, roster.size()));
  loads_.resize(roster.size());
  bits_ = std::make_shared<LongBits>();
  bits_->has_long.resize(roster.size());
}

double CentralScheduler::cost_s(const SampledJob& job, WorkerIndex worker) const {
  // Tasks of different width share a worker: an estimate counts by the share that the task takes.
  return job.estimate_s * roster_.demand(job, worker)->dominant_share(roster_.capacity(worker));
}

double CentralScheduler::waiting_s(WorkerIndex worker, Instant now) const {
  const Load& load = loads_[worker];
  if (load.running.empty()) return load.queued_s;
  // The request and the answer travel before a queued task starts.
  double waiting_s = load.queued_s + to_seconds(2 * rules_.network_delay);
  for (const Running& running : load.running) {
    const SampledJob& job = *open_.at(running.job).job;
    const double elapsed_s = std::max(0.0, to_seconds(now - running.since));
    const double passed = job.estimate_s > 0 ? std::min(1.0, elapsed_s / job.estimate_s) : 1;
    waiting_s -= passed * cost_s(job, worker);
  }
  return waiting_s;
}

void CentralScheduler::mark(WorkerIndex worker, bool has_long) {
  if (bits_->has_long[worker] == has_long) return;
  // Reservations under way hold the old state, which is what their workers are to see.
  if (bits_.use_count() > 1) bits_ = std::make_shared<LongBits>(*bits_);
  bits_->has_long[worker] = has_long;
}

void CentralScheduler::take(const TaskBatch& batch, Instant now, Actions& out) {
  const SampledJob& job = *batch.job;
  using Waiting = std::pair<double, WorkerIndex>;  // the least first, the first worker on ties
  std::vector<Waiting> line;
  // O(workers) a job and O(log workers) a task.
  for (WorkerIndex worker = first_; worker < roster_.size(); ++worker) {
    if (roster_.demand(job, worker) == nullptr) continue;
    line.emplace_back(waiting_s(worker, now), worker);
  }
  std::make_heap(line.begin(), line.end(), std::greater<>{});
  open_[job.id] = {batch.job, batch.tasks.size()};
  std::vector<WorkerIndex> chosen;
  for (std::size_t i = 0; i < batch.tasks.size(); ++i) {
    // Never empty: the site refuses jobs that no worker may run (GroupShared::has_place).
    std::pop_heap(line.begin(), line.end(), std::greater<>{});
    auto& [waiting_s, worker] = line.back();
    const double cost = cost_s(job, worker);
    waiting_s += cost;
    loads_[worker].queued_s += cost;
    ++loads_[worker].tasks;
    mark(worker, true);
    chosen.push_back(worker);
    std::push_heap(line.begin(), line.end(), std::greater<>{});
  }
  if (bits_.use_count() > 1) bits_ = std::make_shared<LongBits>(*bits_);
  // One stamp a job: all its reservations carry the state with all its tasks in it.
  ++bits_->stamp;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    out.push_back(Reserve{chosen[i], {batch.job, batch.tasks[i], 0, true, bits_}});
  }
}

/// The task was placed there when the job came; it starts when the answer arrives.
void CentralScheduler::asked(const TaskRequest& request, Instant now, Actions& out) {
  loads_[request.worker].running.push_back({request.job, now + rules_.network_delay});
  out.push_back(Answer{request.worker, request.ticket, TaskRef{request.job, *request.task}, true});
}

void CentralScheduler::done(const TaskDone& done, Instant, Actions&) {
  const auto open = open_.find(done.job);
  Load& load = loads_[done.worker];
  load.queued_s -= cost_s(*open->second.job, done.worker);
  const auto running =
      std::find_if(load.running.begin(), load.running.end(),
                   [&](const Running& candidate) { return candidate.job == done.job; });
  load.running.erase(running);
  if (--load.tasks == 0) {
    load.queued_s = 0;  // no rounding error outlives the last task
    mark(done.worker, false);
  }
  if (--open->second.left == 0) open_.erase(open);
}

}  // namespace muster::sampling
