#include "masters/master_actor.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "masters/cell_view.hpp"
#include "model/live_ids.hpp"

namespace muster {
namespace {

/// Readers of logs that a worker has not answered yet: more are turned away.
constexpr std::size_t kMaxLogReaders = 1000;

/// Sites that ask for the load; all are told anew when there have been more.
constexpr std::size_t kMaxAskers = 1000;

/// Rounds whose decision times are kept; weeks of them.
constexpr std::ptrdiff_t kMaxDecisionTimes = 4'000'000;

bool ends_attempt(WorkerReportKind kind) {
  return kind == WorkerReportKind::left || kind == WorkerReportKind::finished ||
         kind == WorkerReportKind::failed;
}

}  // namespace

MasterNode::MasterNode(caf::actor_config& config, MasterSetup setup)
    : MasterActor::base(config),
      setup_(std::move(setup)),
      master_(std::move(setup_.parts)),
      cadence_(master_.cadence()),
      timer_(this, setup_.epoch) {
  set_down_handler([this](const caf::down_msg& down) { lose_worker(down.source); });
  MasterLife& life = setup_.life;
  if (!life.image && life.tail.empty()) return;
  if (!life.tail.empty()) newest_ = life.tail.back().at;
  master_.restore(std::exchange(life.image, std::nullopt), life.tail);
  events_since_snapshot_ = life.tail.size();
  life.tail.clear();
  for (const InstanceRow& row : master_.state().instances()) {
    workers_[row.id] = Connection{{}, now(), {}, 0};
  }
}

void MasterNode::on_exit() {
  workers_.clear();
  listeners_.clear();
  log_readers_.clear();
  pending_.clear();
  setup_.cloud = nullptr;
}

MasterActor::behavior_type MasterNode::make_behavior() {
  master_.keep_fleet(now());
  carry_out();
  if (cadence_.period > Duration::zero()) tick();
  if (setup_.life.remind_every > Duration::zero()) remind();
  return {
      [this](accept_atom, Job& job, const JobListener& listener) {
        return accept(std::move(job), listener);
      },
      [this](hand_atom, std::vector<Job>& jobs) { return take_over(std::move(jobs)); },
      [this](cancel_atom, JobId id) {
        master_.cancel(id, now());
        carry_out();
      },
      [this](hold_atom, JobId id, bool held) { return hold(id, held); },
      [this](drain_atom, InstanceId id) { return drain(id); },
      [this](hello_atom, const WorkerHello& hello, const WorkerActor& worker) {
        hear_hello(hello, worker);
      },
      [this](const WorkerReport& report) { hear_worker(report); },
      [this](const SampleAnswer& answer) { hear_samples(answer); },
      [this](const LogAnswer& answer) { hear_log(answer); },
      [this](const CloudReport& report) { hear_cloud(report); },
      [this](load_atom) { return load_report(caf::actor_cast<caf::actor_addr>(current_sender())); },
      [this](const Query& query) { return answer(query); },
      [this](plan_atom, Job& job) {
        return CellView{master_, nullptr, {}, setup_.life.name, now()}.plan(std::move(job));
      },
      [this](const LogRequest& request) { return read_log(request); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

LoadReport MasterNode::load_report(const caf::actor_addr& asker) {
  const ClusterState& state = master_.state();
  LoadReport report;
  report.active_jobs = state.jobs().size();
  report.pending_tasks = state.pending().size();
  report.instances = state.instances().size();
  report.load = master_.load(setup_.queue_room);
  report.used = state.sums().used.value();
  report.capacity = state.sums().capacity.value();
  report.broken.assign(master_.broken_parts().begin(), master_.broken_parts().end());
  if (told_.size() > kMaxAskers) told_.clear();
  const std::uint64_t all = master_.completed_count();
  const std::uint64_t fresh = all - std::exchange(told_[asker], all);
  const std::deque<CompletedJob>& known = master_.completed();
  const std::size_t skipped = known.size() - std::min<std::uint64_t>(fresh, known.size());
  for (std::size_t i = skipped; i < known.size(); ++i) {
    report.completed.push_back({known[i].job, known[i].tasks, known[i].together});
  }
  return report;
}

Instant MasterNode::now() {
  newest_ = std::max(newest_, timer_.now());
  return newest_;
}

caf::result<JobId> MasterNode::accept(Job job, const JobListener& listener) {
  const JobId id = job.id;
  const AcceptResult result = master_.accept(std::move(job), now());
  if (result == AcceptResult::known_already) return ActorError::duplicate_job;
  if (result == AcceptResult::invalid) return ActorError::invalid_job;
  if (listener) listeners_[id] = listener;
  if (cadence_.on_arrival) want_round();
  auto promise = make_response_promise<JobId>();
  carry_out([promise, id]() mutable { promise.deliver(id); });
  return promise;
}

caf::result<std::vector<AcceptVerdict>> MasterNode::take_over(std::vector<Job> jobs) {
  if (!setup_.journal->trouble().empty()) return ActorError::store_failed;
  std::vector<AcceptVerdict> verdicts;
  for (Job& job : jobs) {
    const JobId id = job.id;
    const bool over = setup_.life.history != nullptr && setup_.life.history->find(id).has_value();
    const AcceptResult result =
        over ? AcceptResult::known_already : master_.accept(std::move(job), now());
    verdicts.push_back(
        {id, result != AcceptResult::invalid,
         result == AcceptResult::invalid ? "the job or a task of it is not valid" : std::string{}});
  }
  if (cadence_.on_arrival) want_round();
  auto promise = make_response_promise<std::vector<AcceptVerdict>>();
  carry_out([promise, verdicts]() mutable { promise.deliver(std::move(verdicts)); });
  return promise;
}

caf::result<JobId> MasterNode::hold(JobId id, bool held) {
  if (!master_.hold(id, held, now())) return ActorError::unknown;
  if (!held && cadence_.on_arrival) want_round();
  auto promise = make_response_promise<JobId>();
  carry_out([promise, id]() mutable { promise.deliver(id); });
  return promise;
}

caf::result<InstanceId> MasterNode::drain(InstanceId id) {
  if (!master_.evict(id, CauseCode::drained, now())) return ActorError::unknown;
  auto promise = make_response_promise<InstanceId>();
  carry_out([promise, id]() mutable { promise.deliver(id); });
  return promise;
}

void MasterNode::hear_hello(const WorkerHello& hello, const WorkerActor& worker) {
  const InstanceId id = hello.instance;
  Connection& connection = workers_[id];
  // What a repeated hello says of attempts may be out of date.
  if (hello.number != 0 && connection.hello == hello.number) return;
  if (setup_.life.remind_every > Duration::zero() && connection.worker != worker) monitor(worker);
  connection = {worker, {}, hello.limits, hello.number};
  std::set<KnownAttempt> running;
  for (const WorkerReport& report : hello.known) {
    take_report(report);
    if (!ends_attempt(report.kind)) running.insert({report.task, report.attempt});
  }
  master_.compare_attempts(id, running, now());
  master_.instance_ready(id, now());
  if (cadence_.on_capacity) want_round();
  carry_out();
}

void MasterNode::hear_worker(const WorkerReport& report) {
  const std::size_t jobs_before = master_.state().jobs().size();
  take_report(report);
  const bool departed = master_.state().jobs().size() < jobs_before;
  const bool freed = report.kind != WorkerReportKind::started;
  if ((departed && cadence_.on_departure) || (freed && cadence_.on_capacity)) want_round();
  carry_out();
}

/// A worker may speak of attempts on its own instance only, whatever key it has got hold of.
bool MasterNode::is_there(TaskId task, InstanceId instance) const {
  const TaskRow* row = master_.state().find(task);
  return row != nullptr && row->at != kNoSlot && master_.state().instance(row->at).id == instance;
}

void MasterNode::take_report(const WorkerReport& report) {
  if (ends_attempt(report.kind)) master_.settle(report.task, report.attempt, report.instance);
  if (!is_there(report.task, report.instance)) return;
  const ProcessEnd end{report.exit_code, report.out_tail, report.err_tail};
  switch (report.kind) {
    case WorkerReportKind::started:
      master_.task_started({report.task, report.attempt, report.fetch, report.build}, now());
      break;
    case WorkerReportKind::left:
      master_.task_left({report.task, report.attempt, report.upload, end}, now());
      break;
    case WorkerReportKind::finished:
      master_.task_finished({report.task, report.attempt, end}, now());
      break;
    case WorkerReportKind::failed:
      master_.task_failed({report.task, report.attempt, report.reason, end}, now());
      break;
    case WorkerReportKind::taken:
      break;
  }
}

void MasterNode::hear_cloud(const CloudReport& report) {
  const Instant heard = now();
  const auto said = report.at == heard ? std::nullopt : std::optional(report.at);
  switch (report.kind) {
    case CloudReportKind::up:
      master_.instance_up(report.instance, said, heard);
      // Its worker may have been quicker than the cloud's word, which counts for the bill.
      if (worker_on(report.instance) != nullptr) master_.instance_ready(report.instance, heard);
      break;
    case CloudReportKind::refused:
      master_.instance_refused(report.instance, heard);
      break;
    case CloudReportKind::gone:
      workers_.erase(report.instance);
      master_.instance_gone(report.instance, said, heard, report.billed_from);
      break;
    case CloudReportKind::notice:
      master_.evict(report.instance, CauseCode::interrupted, heard);
      if (cadence_.on_capacity) want_round();
      break;
  }
  carry_out();
}

void MasterNode::lose_worker(const caf::actor_addr& address) {
  for (auto& [id, connection] : workers_) {
    if (connection.worker.address() != address) continue;
    connection.worker = nullptr;
    connection.lost_at = now();
  }
}

void MasterNode::tick() {
  want_round();
  timer_.at(floor_to(now(), cadence_.period) + cadence_.period, [this] { tick(); });
}

/// What may have got lost on the way to the cloud, or at it, is said again; what has been silent
/// for too long is ended: only the cloud's word that an instance is gone frees its tasks.
void MasterNode::remind() {
  master_.keep_caps(now());
  master_.remind(reminders_++ % std::max(1U, setup_.life.full_remind_every) == 0);
  carry_out();
  const Duration patience = setup_.life.worker_lost_after;
  for (const InstanceRow& row : master_.state().instances()) {
    if (patience <= Duration::zero() || !row.up) continue;
    const auto found = workers_.find(row.id);
    const bool connected = found != workers_.end() && found->second.worker;
    const InstanceType& type = master_.catalog()[row.type];
    const Instant silent_since = found != workers_.end()
                                     ? found->second.lost_at
                                     : row.requested_at + type.acquire + type.setup;
    if (!connected && silent_since + patience < now()) perform(EndInstance{row.id});
  }
  timer_.at(now() + setup_.life.remind_every, [this] { remind(); });
}

void MasterNode::want_round() {
  if (round_wanted_) return;
  round_wanted_ = true;
  timer_.at(now() + setup_.round_settle, [this] { gather(); });
}

/// Asks the workers that run something; the last answer, or the lack of it, starts the decision.
/// Plain messages: CAF searches an actor's open requests one by one.
void MasterNode::gather() {
  samples_.clear();
  ++asking_;
  if (cadence_.wants_throughput) {
    for (const auto& [id, connection] : workers_) {
      const InstanceRow* row = master_.state().find(id);
      if (row == nullptr || row->occupants.empty() || !connection.worker) continue;
      silent_.insert(id);
      send(connection.worker, sample_atom_v, asking_);
    }
  }
  if (silent_.empty()) return decide();
  timer_.at(now() + setup_.sample_timeout, [this, asking = asking_] {
    if (asking == asking_ && !silent_.empty()) decide();
  });
}

void MasterNode::hear_samples(const SampleAnswer& answer) {
  if (answer.asking != asking_ || silent_.erase(answer.instance) == 0) return;
  for (const TaskThroughput& sample : answer.samples) {
    const TaskRow* task = master_.state().find(sample.task);
    if (task == nullptr || task->attempt != sample.attempt) continue;
    if (!is_there(sample.task, answer.instance)) continue;
    samples_.push_back({sample.task, static_cast<double>(sample.scaled) / TaskThroughput::kOne});
  }
  if (silent_.empty()) decide();
}

void MasterNode::decide() {
  round_wanted_ = false;
  silent_.clear();
  std::sort(samples_.begin(), samples_.end(),
            [](const auto& a, const auto& b) { return a.task < b.task; });
  if (!master_.busy()) return;
  const Duration before = setup_.stopwatch();
  master_.round(samples_, now());
  std::vector<double>& times = setup_.times->ms;
  if (std::ssize(times) >= kMaxDecisionTimes)
    times.erase(times.begin(), times.begin() + kMaxDecisionTimes / 2);
  times.push_back(to_seconds(setup_.stopwatch() - before) * 1e3);
  carry_out();
}

caf::result<LogAnswer> MasterNode::read_log(const LogRequest& request) {
  const CellView view{master_, setup_.life.history, {}, setup_.life.name, now()};
  const AttemptPlace place = view.place_of(request.task, request.attempt);
  if (!place.known) return ActorError::unknown;
  WorkerActor* worker = place.on.valid() ? worker_on(place.on) : nullptr;
  if (worker == nullptr || log_readers_.size() >= kMaxLogReaders) {
    const std::string& tail = request.error_stream ? place.end.err_tail : place.end.out_tail;
    const bool newest = request.attempt == 0 || request.attempt == place.attempt;
    const std::size_t from = std::min<std::size_t>(request.offset, tail.size());
    return LogAnswer{place.on, request.number, from, newest ? tail.substr(from) : std::string{},
                     place.running};
  }
  LogRequest onward = request;
  onward.number = ++next_log_;
  onward.attempt = place.attempt;
  auto promise = make_response_promise<LogAnswer>();
  log_readers_[onward.number] = {promise, request.number};
  send(*worker, onward);
  return promise;
}

void MasterNode::hear_log(const LogAnswer& answer) {
  const auto reader = log_readers_.find(answer.number);
  if (reader == log_readers_.end()) return;
  LogAnswer onward = answer;
  onward.number = reader->second.number;
  reader->second.promise.deliver(std::move(onward));
  log_readers_.erase(reader);
}

std::string MasterNode::answer(const Query& query) {
  CellView view{master_, setup_.life.history, {}, setup_.life.name, now()};
  // Of all the documents only the list of instances speaks of workers.
  for (const auto& [id, connection] : workers_) {
    if (query.what != "instances") break;
    view.workers[id] = {static_cast<bool>(connection.worker), connection.limits};
  }
  view.decisions = &decisions_;
  view.trouble = setup_.journal->trouble();
  if (!setup_.times->ms.empty()) view.last_decision_ms = setup_.times->ms.back();
  return view.answer(query.what, query.id, query.text, query.limit);
}

/// Hands what has happened to the journal; effects and `then` follow when it is durable.
void MasterNode::carry_out(std::function<void()> then) {
  Commit commit = master_.commit();
  if (commit.events.empty() && pending_.empty()) {
    for (const Effect& effect : commit.effects) {
      std::visit([this](const auto& e) { perform(e); }, effect);
    }
    if (then) then();
    return;
  }
  events_since_snapshot_ += commit.events.size();
  decisions_.watch(commit.events);
  pending_.push_back({std::move(commit.effects), std::move(then)});
  if (setup_.life.history != nullptr) {
    for (JobHistory& job : commit.over) setup_.life.history->add(std::move(job));
  }
  // A journal may answer at once or from its own thread, to which the actor is a stranger.
  setup_.journal->append(std::move(commit.events),
                         [this, here = std::this_thread::get_id(),
                          address = caf::actor_cast<caf::weak_actor_ptr>(this)] {
                           if (std::this_thread::get_id() == here) return now_durable();
                           if (auto self = caf::actor_cast<MasterActor>(address.lock())) {
                             caf::anon_send(self, Wakeup{[this] { now_durable(); }});
                           }
                         });
  save_snapshot_if_due();
}

void MasterNode::now_durable() {
  const Pending durable = std::move(pending_.front());
  pending_.pop_front();
  for (const Effect& effect : durable.effects) {
    std::visit([this](const auto& e) { perform(e); }, effect);
  }
  if (durable.then) durable.then();
}

void MasterNode::save_snapshot_if_due() {
  const MasterLife& life = setup_.life;
  if (life.snapshot_every == 0 || events_since_snapshot_ < life.snapshot_every) return;
  events_since_snapshot_ = 0;
  life.save_snapshot(master_.image());
}

/// The worker of an instance that can be spoken to now; null when there is none.
WorkerActor* MasterNode::worker_on(InstanceId id) {
  const auto found = workers_.find(id);
  return found == workers_.end() || !found->second.worker ? nullptr : &found->second.worker;
}

void MasterNode::perform(const StartTask& effect) {
  WorkerActor* worker = worker_on(effect.on);
  const TaskRow* task = master_.state().find(effect.task);
  const InstanceRow* place = master_.state().find(effect.on);
  if (worker == nullptr || task == nullptr || place == nullptr) return;
  if (task->attempt != effect.attempt) return;
  const Job& job = master_.state().job(task->job).job;
  send(*worker, start_atom_v,
       StartOrder{job.id, master_.state().spec(*task), effect.attempt,
                  master_.state().demand(*task, place->type)->amount, job.program, job.task_count(),
                  job.workload_class});
}

void MasterNode::perform(const StopTask& effect) {
  if (WorkerActor* worker = worker_on(effect.on)) {
    send(*worker, stop_atom_v, effect.task, effect.attempt);
  }
}

void MasterNode::perform(const LaunchInstance& effect) {
  send(setup_.cloud, launch_atom_v,
       LaunchOrder{effect.instance, effect.type, static_cast<std::uint8_t>(effect.market)},
       MasterActor{this});
}

void MasterNode::perform(const EndInstance& effect) {
  send(setup_.cloud, end_atom_v, effect.instance, MasterActor{this});
}

void MasterNode::perform(const SettleAttempt& effect) {
  if (WorkerActor* worker = worker_on(effect.on)) {
    send(*worker, settled_atom_v, effect.task, effect.attempt);
  }
}

void MasterNode::perform(const TellJobOver& effect) {
  const auto listener = listeners_.find(effect.job);
  if (listener == listeners_.end()) return;
  send(listener->second, over_atom_v, effect.job, effect.outcome);
  listeners_.erase(listener);
}

}  // namespace muster
