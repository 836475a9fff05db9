// What the master's actor hears of workers.

#include <set>

#include "masters/actor/master_actor.hpp"

namespace muster {
namespace {

bool ends_attempt(WorkerReportKind kind) {
  return kind == WorkerReportKind::checkpointed || kind == WorkerReportKind::finished ||
         kind == WorkerReportKind::failed || kind == WorkerReportKind::rejected;
}

/// Attempts in a row that an instance's worker may not have started before the instance is given
/// back: master and worker do not agree about what is there.
constexpr std::uint32_t kMaxRejected = 5;

/// A hello whose number is this little below the last one's was said before it by the same process.
constexpr std::uint64_t kHellosOfOne = 1'000'000;

}  // namespace

void MasterActorImpl::on_hello(const WorkerHello& hello, const WorkerActor& worker) {
  const InstanceId id = hello.instance;
  if (master_.state().find(id) == nullptr) return turn_away(hello, worker);
  Connection& connection = workers_[id];
  // What a repeated hello says of attempts may be out of date.
  const bool said_before =
      hello.number <= connection.hello && connection.hello - hello.number < kHellosOfOne;
  if (hello.number != 0 && said_before) return;
  if (connection.worker != worker) {
    end_log_readers(id);
    if (logs_) logs_->cut(id);
    monitor(worker);
    links_[worker.address()] = id;
  }
  connection = {worker, hello.limits, hello.isolation, hello.number, connection.rejected};
  unheard_.erase(id);
  std::set<KnownAttempt> running;
  for (const WorkerReport& report : hello.known) {
    take_report(report);
    if (!ends_attempt(report.kind)) running.insert({report.task, report.attempt});
  }
  if (logs_) logs_->met(id);
  master_.compare_attempts(id, running, now());
  master_.instance_ready(id, now());
  if (cadence_.on_capacity) want_round();
  commit();
}

/// The instance is gone, as far as it is known here: its worker is not remembered, and the cloud is
/// asked to end what it runs on.
void MasterActorImpl::turn_away(const WorkerHello& hello, const WorkerActor& worker) {
  for (const WorkerReport& report : hello.known) {
    if (!ends_attempt(report.kind)) send(worker, stop_atom_v, report.task, report.attempt);
  }
  perform(EndInstance{hello.instance});
}

void MasterActorImpl::on_worker(const WorkerReport& report) {
  const std::size_t jobs_before = master_.state().jobs().size();
  take_report(report);
  note_rejection(report);
  const bool departed = master_.state().jobs().size() < jobs_before;
  const bool freed = report.kind != WorkerReportKind::started;
  if ((departed && cadence_.on_departure) || (freed && cadence_.on_capacity)) want_round();
  commit();
}

/// A worker that has no room where there should be some is asked for what it has, and given up when
/// that does not help; so is one that can start nothing.
void MasterActorImpl::note_rejection(const WorkerReport& report) {
  const auto found = workers_.find(report.instance);
  if (found == workers_.end()) return;
  Connection& connection = found->second;
  if (report.kind == WorkerReportKind::started) connection.rejected = 0;
  const bool rejected = report.kind == WorkerReportKind::rejected;
  const bool lost = report.kind == WorkerReportKind::failed && report.failure == FailureKind::lost;
  if (!rejected && !lost) return;
  if (rejected && connection.worker) send(connection.worker, greet_atom_v);
  if (++connection.rejected < kMaxRejected) return;
  master_.evict(report.instance, CauseCode::worker_lost, now());
}

/// A worker may speak of attempts on its own instance only, whatever key it has got hold of.
bool MasterActorImpl::is_there(TaskId task, InstanceId instance) const {
  const TaskRow* row = master_.state().find(task);
  return row != nullptr && row->at != kNoSlot && master_.state().instance(row->at).id == instance;
}

void MasterActorImpl::take_report(const WorkerReport& report) {
  if (ends_attempt(report.kind)) {
    note_log(report);
    master_.acknowledge(report.task, report.attempt, report.instance);
  }
  if (!is_there(report.task, report.instance)) return;
  const ProcessEnd end{report.exit_code, report.out_tail, report.err_tail};
  const FailureKind why =
      report.failure == FailureKind::unknown ? FailureKind::exit_code : report.failure;
  switch (report.kind) {
    case WorkerReportKind::started:
      master_.task_started({report.task, report.attempt, report.fetch, report.build}, now());
      break;
    case WorkerReportKind::checkpointed:
      master_.task_checkpointed({report.task, report.attempt, report.upload, end}, now());
      break;
    case WorkerReportKind::finished:
      master_.task_finished({report.task, report.attempt, end}, now());
      break;
    case WorkerReportKind::failed:
      master_.task_failed(
          {report.task, report.attempt, report.reason, end, why == FailureKind::lost, why}, now());
      break;
    case WorkerReportKind::rejected:
      master_.task_failed(
          {report.task, report.attempt, report.reason, end, true, FailureKind::rejected}, now());
      break;
    case WorkerReportKind::accepted:
      break;
  }
}

}  // namespace muster
