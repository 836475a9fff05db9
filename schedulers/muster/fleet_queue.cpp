#include "schedulers/muster/fleet_queue.hpp"

// An entry is a job and not a task: the tasks of a job that are alike start one after the other, so
// that the order of the jobs is the order of all. Lists by shape let a round drop all that is too
// large at once.

namespace muster::own {
namespace {

/// Assumed time of a task before any task of a long job has finished: the order is that of
/// unstarted tasks.
constexpr double kUnknownTask_s = 1;

/// A probability of one half, as where jobs are not told apart, is no prediction.
constexpr double kNotKnown = 0.5;

/// The more probable length. A classifier that looks for the rare long jobs calls many short ones
/// long, and says so by its confidence; those would wait behind all long work, whereas a long job
/// that counts as short is found out as soon as it has run for too long.
bool is_long(const muster::Job& job, const FleetParams& params) {
  const Prediction& said = job.prediction;
  if (said.length != JobLength::unknown && said.confidence != kNotKnown) {
    // A prediction without a confidence is taken at its word.
    const bool doubted = said.confidence > 0 && said.confidence < kNotKnown;
    return (said.length == JobLength::long_run) != doubted;
  }
  // Unknown: it counts as short until one of its tasks has run for too long.
  return params.task_times == TaskTimes::known && job.runtime_hint.has_value() &&
         params.cutoff > Duration{} && *job.runtime_hint > params.cutoff;
}

}  // namespace

void FleetQueue::add(const JobRow& row, const QueuePlace& rank) {
  Job& job = jobs_[row.job.id];
  job.slot = row.slot;
  job.tasks = row.tasks;
  job.gang = row.job.gang && row.tasks.size() > 1;
  job.key = {.less_priority = -std::int64_t{rank.priority},
             .is_long = is_long(row.job, params_),
             .accepted = rank.accepted_at,
             .job = row.job.id};
  // A gang has no task that could go alone, and without a cutoff no task shows anything.
  job.doubted = job.key.is_long && !job.gang && params_.cutoff > Duration{} &&
                row.job.prediction.confidence > 0 && row.job.prediction.confidence < 1;
  if (job.doubted) job.key.is_long = false;
  job.key.rank = rank_of(row, job);
}

void FleetQueue::remove(JobId id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  const Job& job = found->second;
  unlist(job);
  if (job.waits > 0) {
    patient_.erase({*job.since, id});
    --classes_[job.key.is_long ? 1 : 0].jobs;
  }
  jobs_.erase(found);
}

const FleetQueue::Job* FleetQueue::find(JobId id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

void FleetQueue::list(const Job& job) {
  if (job.waits == 0) return;
  if (job.gang) {
    lists_[{job.key.is_long, true, ShapeId{0}}].insert(job.key);
    return;
  }
  for (const auto& [shape, tasks] : job.waiting) {
    lists_[{job.key.is_long, false, shape}].insert(job.key);
  }
}

void FleetQueue::unlist(const Job& job) {
  if (job.waits == 0) return;
  const auto take = [&](const FleetList& from) {
    const auto found = lists_.find(from);
    found->second.erase(job.key);
    if (found->second.empty()) lists_.erase(found);
  };
  if (job.gang) return take({job.key.is_long, true, ShapeId{0}});
  for (const auto& [shape, tasks] : job.waiting) take({job.key.is_long, false, shape});
}

void FleetQueue::rekey(Job& job, const FleetKey& key) {
  if (job.key == key) return;
  unlist(job);
  job.key = key;
  list(job);
}

void FleetQueue::turn(Job& job, bool is_long, const ClusterState& state) {
  if (job.key.is_long == is_long) return;
  unlist(job);
  if (job.waits > 0) {
    --classes_[is_long ? 0 : 1].jobs;
    Class& now = classes_[is_long ? 1 : 0];
    if (now.jobs++ == 0) now.last_start = *job.since;
  }
  job.key.is_long = is_long;
  job.key = key_of(state, job);
  list(job);
}

void FleetQueue::wait(const ClusterState& state, const TaskRow& row, Instant now) {
  Job& job = jobs_.at(state.job(row.job).job.id);
  unlist(job);
  job.waiting[row.shape].emplace(row.index, row.slot);
  if (job.waits++ == 0) {
    job.since = now;
    patient_.emplace(now, job.key.job);
    Class& mine = classes_[job.key.is_long ? 1 : 0];
    if (mine.jobs++ == 0) mine.last_start = now;
  }
  job.key = key_of(state, job);
  list(job);
}

void FleetQueue::leave(const ClusterState& state, const TaskRow& row) {
  Job& job = jobs_.at(state.job(row.job).job.id);
  unlist(job);
  const auto alike = job.waiting.find(row.shape);
  alike->second.erase(row.index);
  if (alike->second.empty()) job.waiting.erase(alike);
  if (--job.waits == 0) {
    patient_.erase({*job.since, job.key.job});
    job.since.reset();
    job.passes = 0;
    job.key.patient = true;
    --classes_[job.key.is_long ? 1 : 0].jobs;
  }
  job.key = key_of(state, job);
  list(job);
  // The rest waits with long ones for what that task shows.
  if (on_trial(job)) turn(job, true, state);
}

void FleetQueue::note_start(JobId id, Instant now) {
  Job& started = jobs_.at(id);
  classes_[started.key.is_long ? 1 : 0].last_start = now;
  started.passes = 0;
  if (params_.max_passes == 0) return;
  for (const auto& [list, keys] : lists_) {
    const FleetKey& first = *keys.begin();
    if (!list.gang && first < started.key) ++jobs_.at(first.job).passes;
  }
}

bool FleetQueue::learn(const ClusterState& state, JobId id, Duration ran) {
  Job& job = jobs_.at(id);
  Class& mine = classes_[job.key.is_long ? 1 : 0];
  ++job.done;
  job.done_for += ran;
  ++mine.done;
  mine.done_for += ran;
  rank(state, id);
  const bool is_short = job.doubted && ran <= params_.cutoff;
  job.doubted = false;
  if (is_short) turn(job, false, state);
  return is_short;
}

void FleetQueue::rank(const ClusterState& state, JobId id) {
  Job& job = jobs_.at(id);
  rekey(job, key_of(state, job));
}

void FleetQueue::outlive(const ClusterState& state, JobId id) {
  Job& job = jobs_.at(id);
  job.doubted = false;
  turn(job, true, state);
}

void FleetQueue::pass_time(Instant now) {
  if (params_.starve == Duration{}) return;
  while (!patient_.empty() && patient_.begin()->first + params_.starve <= now) {
    Job& job = jobs_.at(patient_.begin()->second);
    patient_.erase(patient_.begin());
    FleetKey key = job.key;
    key.patient = false;
    key.rank = to_seconds(job.since->time_since_epoch());
    rekey(job, key);
  }
}

FleetKey FleetQueue::key_of(const ClusterState& state, const Job& job) const {
  FleetKey key = job.key;
  key.rank =
      key.patient ? rank_of(state.job(job.slot), job) : to_seconds(job.since->time_since_epoch());
  return key;
}

double FleetQueue::rank_of(const JobRow& row, const Job& job) const {
  const auto unstarted = static_cast<double>(row.pending + row.capped);
  if (params_.age_s > 0) {
    return to_seconds(row.accepted_at.time_since_epoch()) + params_.age_s * unstarted;
  }
  const bool by_work = job.key.is_long && params_.task_times != TaskTimes::off;
  return by_work ? task_s(row.job, job) * unstarted : unstarted;
}

double FleetQueue::task_s(const muster::Job& asked, const Job& job) const {
  if (params_.task_times == TaskTimes::known) {
    if (asked.prediction.runtime) return to_seconds(*asked.prediction.runtime);
    if (asked.runtime_hint) return to_seconds(*asked.runtime_hint);
  }
  if (job.done > 0) return to_seconds(job.done_for) / static_cast<double>(job.done);
  const Class& all = classes_[1];
  return all.done == 0 ? kUnknownTask_s : to_seconds(all.done_for) / static_cast<double>(all.done);
}

std::optional<std::pair<FleetKey, FleetList>> FleetQueue::first_of(bool is_long) const {
  std::optional<std::pair<FleetKey, FleetList>> first;
  for (auto at = lists_.lower_bound({is_long, false, ShapeId{0}});
       at != lists_.end() && at->first.is_long == is_long; ++at) {
    const std::pair one(*at->second.begin(), at->first);
    if (!first || one < *first) first = one;
  }
  return first;
}

bool FleetQueue::kept_out(bool is_long, Instant now) const {
  const Class& mine = of_class(is_long);
  return params_.starve > Duration{} && mine.jobs > 0 && mine.last_start + params_.starve <= now;
}

bool FleetQueue::starves(const Job& job) const {
  if (job.gang || job.waits == 0) return false;
  return !job.key.patient || (params_.max_passes > 0 && job.passes >= params_.max_passes);
}

void FleetQueue::restore(JobId id, const Job& known) {
  Job& job = jobs_.at(id);
  unlist(job);
  if (job.since) patient_.erase({*job.since, id});
  if (job.waits > 0 && job.key.is_long != known.key.is_long) {
    --classes_[job.key.is_long ? 1 : 0].jobs;
    ++classes_[known.key.is_long ? 1 : 0].jobs;
  }
  job.since = job.waits > 0 ? known.since : std::nullopt;
  job.passes = known.passes;
  job.done = known.done;
  job.done_for = known.done_for;
  job.doubted = known.doubted;
  job.key.is_long = known.key.is_long;
  job.key.patient = known.key.patient || !job.since;
  job.key.rank = known.key.rank;
  if (job.since && job.key.patient) patient_.emplace(*job.since, id);
  list(job);
}

void FleetQueue::restore(bool is_long, const Class& known) {
  Class& mine = classes_[is_long ? 1 : 0];
  mine = {mine.jobs, known.last_start, known.done, known.done_for};
}

}  // namespace muster::own
