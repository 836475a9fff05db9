#include "schedulers/sampling/probe_scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

// Binds late: a probe names a job and no task, so that whichever worker has room first gets the
// next one. Draws are made from workers of types that can hold the job's tasks.

namespace muster::sampling {
namespace {

/// A product this little above a whole number is rounding error.
constexpr double kProductSlack = 1e-9;

}  // namespace

std::size_t short_workers(double share, std::size_t workers) {
  if (share <= 0 || workers < 2) return 0;
  const double part = std::round(share * static_cast<double>(workers));
  return std::clamp<std::size_t>(static_cast<std::size_t>(part), 1, workers - 1);
}

void ProbeScheduler::open(const Roster& roster, Actions&) {
  roster_ = roster;
  short_only_ = short_workers(rules_.short_partition, roster.size());
}

ProbeScheduler::Places& ProbeScheduler::places_for(const SampledJob& job) {
  std::vector<bool> types(job.demand.size());
  for (std::size_t i = 0; i < types.size(); ++i) types[i] = job.demand[i].has_value();
  const auto [entry, is_new] = places_.try_emplace(std::move(types));
  if (!is_new) return entry->second;
  std::vector<WorkerIndex> all, short_only;
  for (WorkerIndex worker = 0; worker < roster_.size(); ++worker) {
    if (roster_.demand(job, worker) == nullptr) continue;
    all.push_back(worker);
    if (worker < short_only_) short_only.push_back(worker);
  }
  entry->second = {WorkerSampler(std::move(all)), WorkerSampler(std::move(short_only))};
  return entry->second;
}

std::size_t ProbeScheduler::probes_for(std::size_t tasks) const {
  const double asked = rules_.probe_ratio * static_cast<double>(tasks) - kProductSlack;
  return std::max({static_cast<std::size_t>(std::ceil(asked)), tasks,
                   static_cast<std::size_t>(rules_.min_probes)});
}

void ProbeScheduler::take(const TaskBatch& batch, Instant, Actions& out) {
  Open& job = open_[batch.job->id];
  job.batch = batch;
  probe(job, 0, probes_for(batch.tasks.size()), out);
}

/// Any worker at first; then those without a known long task; then those that cannot have one.
std::vector<WorkerIndex> ProbeScheduler::draw(const Open& job, std::uint32_t round,
                                              std::size_t count) {
  Places& places = places_for(*job.batch.job);
  if (round == 0) {
    return rules_.replacement ? places.all.with_repeats(count, rng_)
                              : places.all.distinct(count, rng_);
  }
  std::vector<WorkerIndex> drawn;
  if (round <= rules_.retry_rounds) {
    const std::vector<bool>& has_long = job.newest->has_long;
    drawn = places.all.with_repeats(
        count, [&](WorkerIndex at) { return !has_long[at]; }, rng_);
  }
  if (drawn.empty()) {
    const WorkerSampler& last = places.short_only.empty() ? places.all : places.short_only;
    drawn = last.with_repeats(count, rng_);
  }
  return drawn;
}

void ProbeScheduler::probe(Open& job, std::uint32_t round, std::size_t count, Actions& out) {
  // The last round is taken by any worker, or a job might be refused for ever.
  const bool force = round > rules_.retry_rounds;
  for (WorkerIndex worker : draw(job, round, count)) {
    out.push_back(Reserve{worker, {job.batch.job, std::nullopt, round, force, nullptr}});
    if (rules_.cancellation) job.probed.push_back(worker);
  }
}

void ProbeScheduler::asked(const TaskRequest& request, Instant, Actions& out) {
  const auto found = open_.find(request.job);
  if (found == open_.end()) {
    out.push_back(Answer{request.worker, request.ticket, std::nullopt});
    return;
  }
  Open& job = found->second;
  out.push_back(
      Answer{request.worker, request.ticket, TaskRef{request.job, job.batch.tasks[job.next++]}});
  if (rules_.cancellation) {
    const auto probe = std::find(job.probed.begin(), job.probed.end(), request.worker);
    if (probe != job.probed.end()) job.probed.erase(probe);
  }
  // All tasks are handed out: probes that still wait are of no use.
  if (job.next < job.batch.tasks.size()) return;
  call_back(job, out);
  open_.erase(found);
}

void ProbeScheduler::call_back(const Open& job, Actions& out) const {
  for (WorkerIndex worker : job.probed) {
    out.push_back(Cancel{worker, {job.batch.job->id}});
  }
}

/// Waits for the other rejections of this instant: the newest state of all serves all.
void ProbeScheduler::rejected(const Rejection& rejection, Actions& out) {
  const auto found = open_.find(rejection.job);
  if (found == open_.end()) return;  // all its tasks are handed out
  Open& job = found->second;
  if (!job.newest || job.newest->stamp < rejection.bits->stamp) job.newest = rejection.bits;
  if (job.refused.empty()) out.push_back(Later{rejection.job});
  job.refused.push_back(rejection.round);
}

void ProbeScheduler::settle(JobId id, Actions& out) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  Open& job = found->second;
  std::vector<std::uint32_t> refused = std::exchange(job.refused, {});
  std::sort(refused.begin(), refused.end());
  for (auto round = refused.begin(); round != refused.end();) {
    const auto next = std::upper_bound(round, refused.end(), *round);
    probe(job, *round + 1, static_cast<std::size_t>(next - round), out);
    round = next;
  }
}

}  // namespace muster::sampling
