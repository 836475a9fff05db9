#include "masters/tasks/attempt_news.hpp"

#include <vector>

#include "masters/tasks/stop_meaning.hpp"
#include "model/setbacks.hpp"

// Workers' reports of attempts. News may come late, twice, or of an attempt that another one has
// followed: a report on any but the present attempt of a task changes nothing. Orders that a worker
// never heard are found when it lists what it knows, and given again.

namespace muster {

AttemptNews::AttemptNews(MasterRecorder& recorder, const Parts& parts)
    : recorder_(recorder),
      tasks_(parts.tasks),
      ends_(parts.ends),
      reconciler_(parts.reconciler),
      services_(parts.services) {}

/// The row of the attempt that the news speaks of; null when it is an old or unknown one.
const TaskRow* AttemptNews::present(TaskId id, Attempt attempt) const {
  const TaskRow* row = state().find(id);
  return row != nullptr && row->attempt == attempt && row->at != kNoSlot ? row : nullptr;
}

void AttemptNews::checkpoints_stay(InstanceId id, Instant now) {
  const InstanceRow* row = state().find(id);
  if (row != nullptr && !row->own_checkpoints) recorder_.record(OwnCheckpoints{id}, now);
}

void AttemptNews::started(const TaskStarted& news, Instant now) {
  const TaskRow* row = present(news.task, news.attempt);
  if (row == nullptr || row->phase != TaskPhase::starting) return;
  recorder_.record(news, now);
  if (row->target == kNoSlot) tasks_.stop_if_running(news.task, now);  // lost its place on the way
  services_.advance(now);
}

void AttemptNews::checkpointed(const TaskCheckpointed& news, Instant now) {
  const TaskRow* row = present(news.task, news.attempt);
  if (row == nullptr) return;
  const ProgramEnd end = end_after_stop(news.end.exit_code);
  const StopMeaning meaning = meaning_of(end, stopped_by(state(), *row), state().job(row->job).job);
  const bool is_service = state().job(row->job).job.service() != nullptr;
  if (meaning == StopMeaning::done && !is_service)
    return finished({news.task, news.attempt, news.end}, now);
  const JobId job = state().job(row->job).job.id;
  const InstanceId left = state().instance(row->at).id;
  // The report of its start, or its order to stop, may have got lost with a master or a worker.
  if (row->phase == TaskPhase::starting) {
    recorder_.record(TaskStarted{news.task, news.attempt, {}, {}}, now);
  }
  if (row->phase == TaskPhase::running) recorder_.record(StopIssued{news.task, news.attempt}, now);
  recorder_.record(news, now);
  ends_.end_if_done(job, now);
  ends_.end_if_stuck({&news.task, 1}, now);
  services_.advance(now);
  reconciler_.reconcile_task(news.task, now);
  reconciler_.reconcile_room(left, now);
}

void AttemptNews::finished(const TaskFinished& news, Instant now) {
  const TaskRow* row = present(news.task, news.attempt);
  if (row == nullptr) return;
  const JobRow& owner = state().job(row->job);
  const JobId job = owner.job.id;
  if (owner.job.service() != nullptr && !owner.terminal_outcome) {
    // A service has no end of its own: the replica is started again, and is not to blame.
    return failed({news.task, news.attempt, "it has ended", news.end, true, FailureKind::exit_code},
                  now);
  }
  const InstanceId left = state().instance(row->at).id;
  if (row->phase == TaskPhase::starting) {
    recorder_.record(TaskStarted{news.task, news.attempt, {}, {}}, now);
  }
  recorder_.record(news, now);
  ends_.release_capped(job, now);
  ends_.end_if_done(job, now);
  reconciler_.reconcile_room(left, now);
}

void AttemptNews::failed(TaskFailed news, Instant now) {
  const TaskRow* row = present(news.task, news.attempt);
  if (row == nullptr) return;
  const JobRow& job = state().job(row->job);
  const JobId id = job.job.id;
  // A failing task of a job that is being ended would have been stopped.
  news.for_good = !job.terminal_outcome && ends_.is_last_attempt(job.job, news);
  const ServiceSpec* service = job.job.service();
  if (service != nullptr && row->wanted && !news.for_good &&
      is_setback(*row, *service, news, now)) {
    const Duration pause = restart_pause(setbacks_with(*row, now));
    if (pause > Duration::zero()) news.retry_at = now + pause;
  }
  recorder_.record(news, now);
  if (news.for_good) {
    ends_.lose_task(id, now);
  } else if (state().find(id)->terminal_outcome) {
    ends_.end_if_done(id, now);
  }
  services_.advance(now);
  reconciler_.reconcile(now);
}

bool AttemptNews::replica(const ReplicaChanged& news, Instant now) {
  const TaskRow* row = present(news.task, news.attempt);
  if (row == nullptr || state().job(row->job).job.service() == nullptr) return false;
  if (row->replica != nullptr && *row->replica == news.state) return false;
  // The report of its start may have got lost.
  started({news.task, news.attempt, {}, {}}, now);
  recorder_.record(news, now);
  services_.advance(now);
  return true;
}

void AttemptNews::compare(InstanceId id, const std::set<KnownAttempt>& known, Instant now) {
  std::set<KnownAttempt> expected;
  const InstanceRow* row = state().find(id);
  const std::vector<Slot> occupants = row == nullptr ? std::vector<Slot>{} : row->occupants;
  for (Slot slot : occupants) {
    const TaskRow& task = state().task(slot);
    const KnownAttempt attempt{task.id, task.attempt};
    expected.insert(attempt);
    if (known.contains(attempt)) {
      if (task.phase == TaskPhase::stopping) tasks_.repeat_stop(task.id, task.attempt, id);
    } else if (task.phase == TaskPhase::starting) {
      tasks_.repeat_start(task, id);
    } else {
      failed({task.id,
              task.attempt,
              "its worker does not know of it any more",
              {},
              true,
              FailureKind::lost},
             now);
    }
  }
  for (const KnownAttempt& attempt : known) {
    if (!expected.contains(attempt)) tasks_.repeat_stop(attempt.first, attempt.second, id);
  }
}

}  // namespace muster
