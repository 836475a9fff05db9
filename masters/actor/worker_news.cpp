#include "masters/actor/worker_news.hpp"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

bool ends_attempt(WorkerReportKind kind) {
  return kind == WorkerReportKind::checkpointed || kind == WorkerReportKind::finished ||
         kind == WorkerReportKind::failed || kind == WorkerReportKind::rejected;
}

/// Attempts in a row that an instance's worker may not have started before the instance is given
/// back: master and worker do not agree about what is there.
constexpr std::uint32_t kMaxRejected = 5;

}  // namespace

bool is_there(const ClusterState& state, TaskId task, InstanceId instance) {
  const TaskRow* row = state.find(task);
  return row != nullptr && row->at != kNoSlot && state.instance(row->at).id == instance;
}

WorkerNews::WorkerNews(const Parts& parts, Host host)
    : master_(parts.master),
      links_(parts.links),
      logs_(parts.logs),
      execs_(parts.execs),
      host_(parts.host),
      workers_(std::move(host)),
      silence_(host_, [this] { end_lost(); }),
      services_(host_, [this] { services_due(); }),
      relief_(host_, [this] { relieve_silent(); }) {}

void WorkerNews::greet(const WorkerHello& hello, const WorkerActor& worker) {
  const InstanceId id = hello.instance;
  if (master_.state().find(id) == nullptr) return turn_away(hello, worker);
  if (links_.is_old(hello)) return;
  const WorkerActor* before = links_.on(id);
  if ((before == nullptr ? WorkerActor{} : *before) != worker) {
    cut(id);  // the worker's earlier process does not answer open questions
    workers_.monitor(worker);
  }
  links_.meet(hello, worker);
  to_relieve_.erase(id);
  // It is recorded before the reports, as what attempts have saved counts by it.
  if (hello.own_checkpoints) master_.news().checkpoints_stay(id, host_.stamp());
  std::set<KnownAttempt> running;
  for (const WorkerReport& report : hello.known) {
    take(report);
    if (!ends_attempt(report.kind)) running.insert({report.task, report.attempt});
  }
  logs_.met(id);
  master_.news().compare(id, running, host_.stamp());
  master_.instance_ready(id, host_.stamp());
  if (master_.cadence().on_capacity) host_.want_round();
  host_.commit();
}

/// The instance is gone, as far as it is known here: its worker is not remembered, and the cloud is
/// asked to end what it runs on.
void WorkerNews::turn_away(const WorkerHello& hello, const WorkerActor& worker) const {
  for (const WorkerReport& report : hello.known) {
    if (!ends_attempt(report.kind)) workers_.stop(worker, report.task, report.attempt);
  }
  workers_.end(hello.instance);
}

void WorkerNews::hear(const WorkerReport& report) {
  const std::size_t jobs_before = master_.state().jobs().size();
  take(report);
  note_rejection(report);
  const bool departed = master_.state().jobs().size() < jobs_before;
  const bool freed = report.kind != WorkerReportKind::started;
  const Cadence cadence = master_.cadence();
  if ((departed && cadence.on_departure) || (freed && cadence.on_capacity)) host_.want_round();
  host_.commit();
}

/// A worker that has no room where there should be some is asked for what it has, and given up when
/// that does not help; so is one that can start nothing.
void WorkerNews::note_rejection(const WorkerReport& report) {
  if (report.kind == WorkerReportKind::started) return links_.note_start(report.instance);
  const bool rejected = report.kind == WorkerReportKind::rejected;
  const bool lost = report.kind == WorkerReportKind::failed && report.failure == FailureKind::lost;
  if (!rejected && !lost) return;
  const WorkerActor* worker = links_.on(report.instance);
  if (rejected && worker != nullptr) workers_.greet(*worker);
  if (links_.note_rejection(report.instance) < kMaxRejected) return;
  master_.evict(report.instance, CauseCode::worker_lost, host_.stamp());
}

void WorkerNews::take(const WorkerReport& report) {
  if (ends_attempt(report.kind)) {
    logs_.note(report);
    master_.acknowledge(report.task, report.attempt, report.instance);
  }
  if (!is_there(master_.state(), report.task, report.instance)) return;
  if (ends_attempt(report.kind)) workers_.ends(report.task);
  const Instant now = host_.stamp();
  const ProcessEnd end{report.exit_code, report.out_tail, report.err_tail, report.used.cpu,
                       report.used.peak_bytes};
  const FailureKind why =
      report.failure == FailureKind::unknown ? FailureKind::exit_code : report.failure;
  switch (report.kind) {
    case WorkerReportKind::started:
      master_.task_started({report.task, report.attempt, report.fetch, report.build}, now);
      break;
    case WorkerReportKind::checkpointed:
      master_.task_checkpointed({report.task, report.attempt, report.upload, end}, now);
      break;
    case WorkerReportKind::finished:
      master_.task_finished({report.task, report.attempt, end}, now);
      break;
    case WorkerReportKind::failed:
      master_.task_failed(
          {report.task, report.attempt, report.reason, end, why == FailureKind::lost, why}, now);
      break;
    case WorkerReportKind::rejected:
      master_.task_failed(
          {report.task, report.attempt, report.reason, end, true, FailureKind::rejected}, now);
      break;
    case WorkerReportKind::accepted:
      break;
  }
}

void WorkerNews::lose(const caf::actor_addr& link) {
  const auto id = links_.lose(link);
  if (!id) return;
  cut(*id);
  await(*id, Duration::zero());
  workers_.remind();
}

void WorkerNews::forget(InstanceId id) {
  to_relieve_.erase(id);
  links_.forget(id);
  logs_.forget(id);
  execs_.cut(id);
}

void WorkerNews::cut(InstanceId id) const {
  logs_.cut(id);
  execs_.cut(id);
}

void WorkerNews::await(InstanceId id, Duration more) {
  const InstanceRow* row = master_.state().find(id);
  if (row == nullptr || !row->up || row->phase == InstancePhase::terminating) return;
  const Instant lost_at = host_.now() + master_.settings().watch.worker_lost_after + more;
  if (!links_.await(id, lost_at)) return;
  silence_.at(lost_at);
  const Duration replace_after = master_.settings().watch.replace_after;
  if (replace_after <= Duration::zero()) return;
  relief_.at(to_relieve_[id] = host_.now() + replace_after + more);
}

/// Others stand in for the replicas of workers that are silent, which may serve their clients
/// meanwhile.
void WorkerNews::relieve_silent() {
  std::optional<Instant> next;
  std::erase_if(to_relieve_, [&](const auto& silent) {
    const auto& [id, when] = silent;
    if (when <= host_.now()) {
      master_.services().relieve_silent(id, host_.stamp());
      return true;
    }
    next = next ? std::min(*next, when) : when;
    return false;
  });
  if (next) relief_.at(*next);
  host_.commit();
}

/// Ends the instances of workers that were silent for too long. Only the cloud's word that an
/// instance is gone frees its tasks: a worker that is cut off may still run them.
void WorkerNews::end_lost() {
  const std::vector<InstanceId> lost = links_.take_lost(host_.now());
  for (const InstanceId id : lost) {
    master_.abandon(id, CauseCode::worker_lost, host_.stamp());
  }
  if (const auto next = links_.next_lost()) silence_.at(*next);
  if (!lost.empty() && master_.cadence().on_capacity) host_.want_round();
  host_.commit();
}

void WorkerNews::watch_services(const std::vector<Event>& events) {
  watch_next();
  const bool waits = std::ranges::any_of(events, [](const Event& event) {
    const auto* wanted = std::get_if<ReplicaWanted>(&event.body);
    return wanted != nullptr && wanted->wanted;
  });
  if (waits && master_.cadence().on_arrival) host_.want_round();
}

void WorkerNews::watch_next() {
  const auto next = master_.services().next();
  if (!next) return;
  // Its times are stamps, which are ahead of a clock that was set back.
  services_.after(std::max(Duration::zero(), *next - host_.stamp()));
}

void WorkerNews::services_due() {
  // The later of the two clocks, or the alarm would come again at once.
  const Instant now = std::max(host_.stamp(), host_.now());
  if (master_.services().advance(now) && master_.cadence().on_capacity) host_.want_round();
  watch_next();
  host_.commit();
}

std::set<InstanceId> WorkerNews::ask_samples(std::uint64_t sample_round) const {
  std::set<InstanceId> asked;
  links_.each([&](InstanceId id, const WorkerActor& worker) {
    const InstanceRow* row = master_.state().find(id);
    if (row == nullptr || row->occupants.empty()) return;
    asked.insert(id);
    workers_.sample(worker, sample_round);
  });
  return asked;
}

}  // namespace muster
