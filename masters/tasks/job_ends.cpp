#include "masters/tasks/job_ends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "masters/view/cell_pieces.hpp"
#include "model/feasible.hpp"
#include "model/stay.hpp"

// How tasks and jobs end. A job is over when none of its tasks is left that could run; until then
// its outcome may be decided while some of its tasks still stop. The history's record of it is put
// together here, since the rows are gone with the event that ends the job.

namespace muster {
namespace {

/// Completed jobs that may still have to be told to sites.
constexpr std::size_t kMaxTold = 1000;

constexpr const char* kSignalled = "signal";

/// The job wants a task tried again after such a failure.
bool is_retried(const Job& job, const TaskFailed& news) {
  const auto& ends = job.retry_on;
  if (ends.empty()) return true;
  const auto has = [&](const std::string& end) {
    return std::find(ends.begin(), ends.end(), end) != ends.end();
  };
  return (news.kind == FailureKind::signal && has(kSignalled)) ||
         has(std::to_string(news.end.exit_code));
}

/// Something on demand that is there, or could be rented, holds the task.
bool may_run_on_demand(const MasterRecorder& recorder, const TaskRow& task) {
  const ClusterState& state = recorder.facts().state;
  if (!wants(state.markets(task), Market::on_demand)) return false;
  const auto holds = [&](TypeId type) {
    const FamilyDemand* demand = state.demand(task, type);
    return demand != nullptr && demand->amount.fits_in(state.catalog()[type].capacity) &&
           admits(state, task, type);
  };
  for (const InstanceRow& row : state.instances()) {
    if (row.market == Market::on_demand && !row.released && holds(row.type)) return true;
  }
  if (recorder.fixed_fleet()) return false;
  const auto& offers = state.offerings().rows();
  return std::any_of(offers.begin(), offers.end(), [&](const OfferingRow& offer) {
    return offer.key.market == Market::on_demand && holds(offer.key.type);
  });
}

/// The words about a job's counterparts, by array index.
class CounterpartWords {
 public:
  explicit CounterpartWords(const CounterpartsTold& told) : told_(told) {
    met_.add(told.met);
    for (const LostTasks& each : told.lost) lost_.emplace_back().add(each.tasks);
  }
  /// Nothing: it is not over. Empty: the task may begin; else why it cannot any more.
  std::optional<std::string> of(std::uint32_t index) const {
    if (met_.contains(index)) return std::string{};
    for (std::size_t i = 0; i < lost_.size(); ++i) {
      if (!lost_[i].contains(index)) continue;
      return fmt::format("its counterpart, task {} of job {}, {}", index, told_.lost[i].of.value,
                         told_.lost[i].why);
    }
    return std::nullopt;
  }

 private:
  const CounterpartsTold& told_;
  IndexRanges met_;
  std::vector<IndexRanges> lost_;
};

/// Its tasks are never without each other.
bool is_together(const JobRow& job) {
  return job.job.gang || job.width > 0;
}

}  // namespace

JobEnds::JobEnds(MasterRecorder& recorder, TaskOrders& tasks, const MasterSettings& settings,
                 bool keep_history)
    : recorder_(recorder),
      tasks_(tasks),
      max_attempts_(settings.max_attempts),
      max_losses_(settings.max_losses),
      max_interruptions_(settings.max_interruptions),
      keep_history_(keep_history) {}

bool JobEnds::is_last_attempt(const Job& job, const TaskFailed& news) const {
  const TaskHistory* known = recorder_.facts().task_history(news.task);
  if (news.kind == FailureKind::cannot_start) return true;
  // Users want a service to run until they end it, whatever it takes.
  if (job.service() != nullptr) return false;
  const std::uint32_t losses = known == nullptr ? 0 : known->losses;
  if (news.kind == FailureKind::lost) return losses + 1 >= max_losses_;
  const std::uint32_t failures = known == nullptr ? 0 : known->failures;
  const std::uint32_t allowed = job.retries ? *job.retries + 1 : max_attempts_;
  return !news.blameless && (failures + 1 >= allowed || !is_retried(job, news));
}

/// Tasks that are never without each other are looked at when the first of them has lost too many,
/// and when the last one has left: not with each that leaves.
bool JobEnds::is_looked_at(const TaskRow& task) const {
  if (!state().is_confined(task)) return false;
  const JobRow& job = state().job(task.job);
  // Users want a service to run until they end it: it waits for a place on demand.
  if (job.job.service() != nullptr) return false;
  const bool first = job.confined == 1 && task.fruitless >= max_interruptions_;
  return !job.terminal_outcome && (!is_together(job) || first || job.gang.holding == 0);
}

void JobEnds::end_if_stuck(std::span<const TaskId> left, Instant now) {
  std::set<JobId> looked;
  for (const TaskId id : left) {
    const TaskRow* task = state().find(id);
    if (task == nullptr || !is_looked_at(*task)) continue;
    const JobRow& job = state().job(task->job);
    if (!is_together(job) || looked.insert(job.job.id).second) end_if_stuck(*task, now);
  }
}

void JobEnds::end_if_stuck(const TaskRow& task, Instant now) {
  const JobRow& job = state().job(task.job);
  if (may_run_on_demand(recorder_, task)) return;
  Refusal never = why_confined(state(), task);
  never.kind = RefusalKind::never;
  tasks_.refuse(task.id, never, now);
  give_up(job.job.id, JobOutcome::refused, now);
}

void JobEnds::lose_task(JobId id, Instant now) {
  const JobRow& job = *state().find(id);
  const bool too_many = job.job.max_fails && job.failed > *job.job.max_fails;
  if (job.job.gang || too_many) return give_up(id, JobOutcome::failed, now);
  release_capped(id, now);
  end_if_done(id, now);
}

void JobEnds::release_capped(JobId id, Instant now) {
  const JobRow& job = *state().find(id);
  // Replicas of a service are capped by their pauses alone.
  if (job.held_by_user || job.terminal_outcome || job.job.service() != nullptr) return;
  // Those that wait for their counterparts alone are released by these.
  if (job.awaiting > 0) return release_met(job, now);
  met_.erase(id);
  for (std::uint32_t i = job.held_from; i < job.tasks.size(); ++i) {
    if (job.capped == 0 || job.room_in_flight() == 0) return;
    const TaskRow& task = state().task(job.tasks[i]);
    if (task.phase == TaskPhase::capped) recorder_.record(TaskReleased{task.id}, now);
  }
}

/// Of a job some of whose tasks await their counterparts: these are not gone through with each end.
void JobEnds::release_met(const JobRow& job, Instant now) {
  while (job.capped > job.awaiting && job.room_in_flight() > 0) {
    std::set<std::uint32_t>& met = met_[job.job.id];
    // After a start of the master, or when the job was held and released.
    for (std::uint32_t i = job.held_from; met.empty() && i < job.tasks.size(); ++i) {
      put_met(job, i);
    }
    if (met.empty()) return;
    const TaskRow& task = state().task(job.tasks[*met.begin()]);
    met.erase(met.begin());
    if (task.phase == TaskPhase::capped) recorder_.record(TaskReleased{task.id}, now);
  }
}

/// Remembers the task where only the number of those that may run keeps it.
void JobEnds::put_met(const JobRow& job, std::uint32_t at) {
  const TaskRow& task = state().task(job.tasks[at]);
  if (task.phase == TaskPhase::capped && !task.awaits) met_[job.job.id].insert(at);
}

bool JobEnds::hear_counterparts(const CounterpartsTold& told, CounterpartBudget& budget,
                                Instant now) {
  const JobRow* job = state().find(told.job);
  if (job == nullptr || job->terminal_outcome || job->awaiting == 0) return false;
  if (budget.events == 0 || budget.looks == 0) return true;
  budget.looks -= std::min(budget.looks, job->tasks.size());
  const CounterpartWords words(told);
  std::vector<std::pair<std::uint32_t, CounterpartOver>> over;
  bool more = false;
  // No task before held_from awaits anything: it would be held or capped.
  std::uint32_t left = job->awaiting;
  for (std::uint32_t i = job->held_from; left > 0 && i < job->tasks.size(); ++i) {
    const TaskRow& task = state().task(job->tasks[i]);
    if (!task.awaits) continue;
    --left;
    auto lost = words.of(state().spec(task).array_index);
    if (!lost) continue;
    if ((more = budget.events == 0)) break;
    --budget.events;
    over.push_back({i, {task.id, *std::move(lost)}});
  }
  for (auto& [at, each] : over) {
    const bool is_lost = !each.lost.empty();
    recorder_.record(std::move(each), now);
    if (is_lost) lose_task(told.job, now);
    // The last one ends the job, or one too many.
    const JobRow* still = state().find(told.job);
    if (still == nullptr || still->terminal_outcome) return false;
    put_met(*still, at);
  }
  return more;
}

void JobEnds::give_up(JobId id, JobOutcome outcome, Instant now) {
  recorder_.record(JobTerminating{id, outcome}, now);
  const std::vector<Slot> tasks = state().find(id)->tasks;
  for (Slot slot : tasks) {
    const TaskRow& task = state().task(slot);
    if (task.target != kNoSlot) {
      tasks_.unassign(task.id, {CauseCode::evicted, 0}, now);
    } else {
      tasks_.stop_if_running(task.id, now);
    }
  }
  end_if_done(id, now);
}

void JobEnds::end_if_done(JobId id, Instant now) {
  const JobRow& job = *state().find(id);
  std::size_t finished = job.finished;
  std::size_t ended = job.ended();
  // A worker that an elastic job is to lose may come to its end before it has stopped.
  for (std::size_t i = job.width; job.width > 0 && job.ended() > 0 && i < job.tasks.size(); ++i) {
    const TaskPhase phase = state().task(job.tasks[i]).phase;
    finished -= phase == TaskPhase::finished;
    ended -= phase == TaskPhase::finished || phase == TaskPhase::failed;
  }
  // Those of its width have ended, and the others may have still to leave.
  const bool all_left = job.width == 0 || job.gang.holding == 0;
  if (all_left && finished == job.size()) return finish(id, JobOutcome::completed, now);
  if (all_left && ended == job.size()) return finish(id, JobOutcome::failed, now);
  if (!job.terminal_outcome || job.gang.holding > 0) return;
  finish(id, *job.terminal_outcome, now);
}

void JobEnds::finish(JobId id, JobOutcome outcome, Instant now) {
  met_.erase(id);
  const MasterFacts& facts = recorder_.facts();
  JobFinished over{id, outcome, 1, 0};
  if (const auto found = facts.throughput.find(id); found != facts.throughput.end()) {
    over.throughput_samples = found->second.count;
    over.mean_throughput = found->second.sum / static_cast<double>(found->second.count);
  }
  if (keep_history_) recorder_.over(history_of(over, now));
  const JobRow& row = *state().find(id);
  if (outcome == JobOutcome::completed) note_completed(row);
  const TellJobOver tell{id,
                         outcome,
                         state().task(row.tasks.front()).id,
                         static_cast<std::uint32_t>(row.tasks.size()),
                         row.job.task_count(),
                         outcome != JobOutcome::completed && !row.all_ended()};
  recorder_.record(over, now);
  recorder_.effect(tell);
}

JobHistory JobEnds::history_of(const JobFinished& over, Instant now) const {
  const MasterFacts& facts = recorder_.facts();
  const JobRow& row = *state().find(over.job);
  JobHistory history{row.job, over.outcome, row.accepted_at, now, over.mean_throughput, {}};
  history.tasks.reserve(row.tasks.size());
  for (Slot slot : row.tasks) {
    const TaskId id = state().task(slot).id;
    const TaskHistory* known = facts.task_history(id);
    TaskHistory& task = history.tasks.emplace_back(known == nullptr ? TaskHistory{} : *known);
    task.cost = facts.ledger.task(id);
    task.metrics = state().task(slot).metrics;
    const Refusal& refusal = state().task(slot).reason;
    if (over.outcome == JobOutcome::refused && refusal.kind == RefusalKind::never) {
      task.reason = cell::sentence(refusal);
    }
  }
  return history;
}

/// For the sites, which learn from it.
void JobEnds::note_completed(const JobRow& job) {
  CompletedJob done{job.job.id, static_cast<std::uint32_t>(job.tasks.size()), {}};
  for (std::size_t i = 0; i < job.size(); ++i) {
    const TaskHistory* known = recorder_.facts().task_history(state().task(job.tasks[i]).id);
    if (known == nullptr || !known->started_at || !known->ended_at) return;
    done.together += *known->ended_at - *known->started_at;
  }
  completed_.push_back(done);
  ++completed_count_;
  if (completed_.size() > kMaxTold) completed_.pop_front();
}

}  // namespace muster
