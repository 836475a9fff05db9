#include "masters/actor/master_actor.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "masters/view/cell_view.hpp"
#include "model/live_ids.hpp"

namespace muster {
namespace {

/// A clock that was set back is caught up with by one part in so many of the time that passes.
constexpr int kSlew = 100;

/// How much of a journal the events take, in events of the common size.
std::uint64_t weight_of(const std::vector<Event>& events) {
  constexpr std::size_t kSamplesAnEvent = 16;
  std::uint64_t weight = events.size();
  for (const Event& event : events) {
    const auto* measured = std::get_if<Measured>(&event.body);
    if (measured != nullptr) weight += measured->samples.size() / kSamplesAnEvent;
  }
  return weight;
}

}  // namespace

MasterActorImpl::MasterActorImpl(caf::actor_config& config, MasterSetup setup)
    : OrdersFirst(config),
      setup_(std::move(setup)),
      master_(setup_.settings, std::move(setup_.parts)),
      cadence_(master_.cadence()),
      timer_(this, setup_.origin),
      tick_(timer_, [this] { tick(); }),
      reminder_(timer_, [this] { remind(); }),
      asker_(timer_, [this] { ask_due(); }),
      cap_(timer_, [this] { keep_caps(); }),
      silence_(timer_, [this] { end_lost(); }),
      handover_(timer_, [this] { tend_logs(); }),
      listeners_(setup_.max_watches),
      dry_runs_(setup_.settings.dry_runs) {
  set_down_handler([this](const caf::down_msg& down) {
    if (!listeners_.knows(down.source)) return lose_worker(down.source);
    listeners_.drop(down.source);
  });
  if (setup_.snapshot || !setup_.tail.empty()) {
    const std::string trouble =
        master_.restore(std::exchange(setup_.snapshot, std::nullopt), setup_.tail);
    if (!trouble.empty() && setup_.note) setup_.note("master " + master_.name() + ": " + trouble);
    events_since_snapshot_ = setup_.tail.size();
    setup_.tail.clear();
    for (const InstanceRow& row : master_.state().instances()) workers_[row.id] = {};
    // What was recorded before it was over would count twice: here, and in the history.
    for (const JobRow& row : master_.state().jobs()) {
      if (setup_.history != nullptr) setup_.history->drop(row.job.id);
    }
    tally_.recall(master_.state());
  }
  if (setup_.asks_numbers) master_.ask_numbers();
  started_ = timer_.now();
  // What a clock that was ahead has dated later would stand before all that comes.
  std::erase_if(setup_.past, [&](const HistorySample& each) { return each.at > started_; });
  past_.restore(std::exchange(setup_.past, {}));
  set_back_ = std::max(Duration::zero(), master_.facts().newest - started_);
}

void MasterActorImpl::on_exit() {
  workers_.clear();
  links_.clear();
  listeners_.clear();
  log_readers_.clear();
  readers_of_.clear();
  dry_runs_.clear();
  logs_.reset();
  pending_.clear();
  seat_.reset();
  setup_.cloud = nullptr;
}

MasterActor::behavior_type MasterActorImpl::make_behavior() {
  if (setup_.batch_events > 0) {
    master_.hand_over(setup_.batch_events, [this](std::vector<Event>&& events) {
      look_at(events);
      setup_.journal->append(std::move(events), [] {});
    });
  }
  begin_logs();
  begin_planning();
  start_watching();  // first: no fleet is rented before the cloud's clock is known, where it has to
                     // be
  order_fleet();
  commit();
  if (master_.calm()) {
    look_again();
  } else if (master_.busy()) {
    want_round();
  }
  return {
      [this](hand_atom, std::vector<Job>& jobs) { return submit_all(std::move(jobs)); },
      [this](watch_atom, const JobListener& listener, const std::vector<JobId>& jobs) {
        return watch_ends(listener, jobs);
      },
      [this](unwatch_atom, const JobListener& listener, const std::vector<JobId>& jobs) {
        for (JobId job : jobs) listeners_.remove(listener, job);
      },
      [this](cancel_atom, const std::vector<JobId>& jobs) { return cancel(jobs); },
      [this](hold_atom, JobId id, bool held) { return hold(id, held); },
      [this](drain_atom, InstanceId id) { return drain(id); },
      [this](hello_atom, const WorkerHello& hello, const WorkerActor& worker) {
        on_hello(hello, worker);
      },
      [this](const WorkerReport& report) { on_worker(report); },
      [this](const SampleAnswer& answer) { on_samples(answer); },
      [this](const LogAnswer& answer) { on_log(answer); },
      [this](const CloudReport& report) { on_cloud(report); },
      [this](greet_atom) { start_watching(); },
      [this](const LoadQuestion& asked) { return load_report(asked); },
      [this](const JobsQuestion& wanted) { return show(cell_view().jobs(wanted)); },
      [this](const JobQuestion& wanted) { return show(cell_view().job(wanted)); },
      [this](const FindQuestion& wanted) { return show(cell_view().find(wanted)); },
      [this](const RequestQuestion& wanted) { return show(cell_view().request(wanted)); },
      [this](const CostQuestion& wanted) { return show(cell_view().cost(wanted)); },
      [this](instances_atom, InstanceId after) { return show_instances(after); },
      [this](decisions_atom, std::uint32_t most) { return cell_view().decided(most); },
      [this](figures_atom) { return show_figures(); },
      [this](history_atom, std::uint32_t hours) {
        return past_.since(now() - std::chrono::hours{hours});
      },
      [this](plan_atom, Job& job) { return dry_run(std::move(job)); },
      [this](const LogRequest& request) { return read_log(request); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

LoadReport MasterActorImpl::load_report(const LoadQuestion& asked) {
  const ClusterState& state = master_.state();
  LoadReport report;
  report.active_jobs = state.jobs().size();
  report.pending_tasks = state.pending().size();
  report.instances = state.instances().size();
  report.load = master_.load();
  report.used = state.sums().used.value();
  report.capacity = state.sums().capacity.value();
  for (const JobId job : master_.facts().terminal_parts) {
    if (!seen_to_.contains(job)) report.broken.push_back(job);
  }
  put_failed(report, asked.failed_after);
  report.counting = master_.facts().counted.size();
  put_completed(report, asked);
  report.newest = newest_of_sites(master_.facts().accepted);
  return report;
}

/// Those of the lowest jobs, where there are more than go into a message.
void MasterActorImpl::put_failed(LoadReport& report, JobId after) const {
  const auto low = [](const FailedPart& a, const FailedPart& b) { return a.job < b.job; };
  report.failed = master_.facts().failing_parts();
  for (const FailedPart& part : master_.facts().failed_parts) {
    if (!seen_to_.contains(part.job)) report.failed.push_back(part);
  }
  std::erase_if(report.failed,
                [&](const FailedPart& part) { return after.valid() && part.job <= after; });
  std::sort(report.failed.begin(), report.failed.end(), low);
  report.more_failed = cut_to_message(report.failed, kListBytes / 2) > 0;
}

/// A site says with its next question what it has heard; until then it is told the same again.
void MasterActorImpl::put_completed(LoadReport& report, const LoadQuestion& asked) const {
  report.run = static_cast<std::uint64_t>(started_.time_since_epoch().count());
  const std::uint64_t all = master_.completed_count();
  const std::uint64_t heard = asked.run == report.run ? std::min(asked.completed, all) : 0;
  const std::deque<CompletedJob>& known = master_.completed();
  const std::size_t skipped = known.size() - std::min<std::uint64_t>(all - heard, known.size());
  for (std::size_t i = skipped; i < known.size(); ++i) {
    report.completed.push_back({known[i].job, known[i].tasks, known[i].together});
  }
  report.completed_to = all - cut_to_message(report.completed, kListBytes / 4);
}

/// The time that events are stamped with: the clock's, unless that was set back while the master
/// was down. Then stamps go on from the newest one and come back to the clock by a hundredth of the
/// time that passes, so that no duration is wrong by more than that. Timers go by the clock itself.
Instant MasterActorImpl::now() {
  const Instant clock = timer_.now();
  const Instant stamp = clock + std::max(Duration::zero(), set_back_ - (clock - started_) / kSlew);
  if (cloud_ahead_) master_.set_cloud_ahead(*cloud_ahead_ - (stamp - clock));
  return stamp;
}

/// The job was here, however long ago.
bool MasterActorImpl::is_over(JobId id) const {
  if (master_.state().find(id) != nullptr) return false;
  const History* history = setup_.history;
  return master_.facts().accepted.contains(id.value) ||
         (history != nullptr && history->contains(id));
}

caf::result<std::vector<SubmitVerdict>> MasterActorImpl::submit_all(std::vector<Job> jobs) {
  if (!setup_.journal->trouble().empty() || !setup_.journal->strain().empty() || planner_lags()) {
    return ActorError::store_failed;
  }
  std::vector<SubmitVerdict> verdicts;
  std::vector<Job> in_history;
  for (Job& job : jobs) verdicts.push_back(offer(std::move(job), in_history));
  if (cadence_.on_arrival) want_round();
  auto promise = make_response_promise<std::vector<SubmitVerdict>>();
  commit([this, promise, verdicts, in_history = std::move(in_history)]() mutable {
    compare_with_history(std::move(in_history), std::move(verdicts), promise);
  });
  return promise;
}

/// What is answered is durable. Sites repeat themselves, so much of it may be known already.
caf::result<std::vector<CancelVerdict>> MasterActorImpl::cancel(const std::vector<JobId>& jobs) {
  std::vector<CancelVerdict> verdicts;
  for (const JobId id : jobs) {
    CancelVerdict verdict{id, CancelStanding::unknown};
    if (master_.state().find(id) != nullptr) {
      verdict.standing = CancelStanding::ended;
      master_.cancel(id, now());
    } else if (is_over(id)) {
      verdict.standing = CancelStanding::over;
      note_cancel(id);
    }
    verdicts.push_back(verdict);
  }
  auto promise = make_response_promise<std::vector<CancelVerdict>>();
  commit([promise, verdicts]() mutable { promise.deliver(std::move(verdicts)); });
  return promise;
}

/// Who cancels what is over here has heard of it or has a user who wants it, and has written that
/// down before, or has told its user that it could not.
void MasterActorImpl::note_cancel(JobId id) {
  const std::deque<JobId>& broken = master_.facts().terminal_parts;
  const std::deque<FailedPart>& failed = master_.facts().failed_parts;
  const bool told = std::find(broken.begin(), broken.end(), id) != broken.end() ||
                    std::ranges::find(failed, id, &FailedPart::job) != failed.end();
  if (!told) return;
  seen_to_.insert(id);
  if (seen_to_.size() <= 2 * (broken.size() + failed.size())) return;
  std::set<JobId> known(broken.begin(), broken.end());
  for (const FailedPart& part : failed) known.insert(part.job);
  std::erase_if(seen_to_, [&known](JobId job) { return !known.contains(job); });
}

caf::result<JobId> MasterActorImpl::hold(JobId id, bool held) {
  const HoldResult result = master_.hold(id, held, now());
  if (result == HoldResult::unknown) return ActorError::unknown;
  if (result == HoldResult::stopping) return ActorError::stopping;
  if (!held && cadence_.on_arrival) want_round();
  auto promise = make_response_promise<JobId>();
  commit([promise, id]() mutable { promise.deliver(id); });
  return promise;
}

caf::result<InstanceId> MasterActorImpl::drain(InstanceId id) {
  if (!master_.evict(id, CauseCode::drained, now())) return ActorError::unknown;
  auto promise = make_response_promise<InstanceId>();
  commit([promise, id]() mutable { promise.deliver(id); });
  return promise;
}

void MasterActorImpl::on_cloud(const CloudReport& report) {
  on_clock(report);
  on_offerings(report);
  const Instant heard = now();
  const auto said = report.at == heard ? std::nullopt : std::optional(report.at);
  switch (report.kind) {
    case CloudReportKind::up:
      master_.instance_up(report.instance, said, heard);
      // Its worker may have been quicker than the cloud's word, which counts for the bill.
      if (worker_on(report.instance) != nullptr) master_.instance_ready(report.instance, heard);
      break;
    case CloudReportKind::refused:
      forget_worker(report.instance);
      master_.instance_refused(report.instance, heard, report.reason);
      break;
    case CloudReportKind::gone: {
      if (comes_too_early(report)) break;
      // Of what was released its tasks have been taken off before; others come to wait only now, as
      // after a start that finds the instances of before ended.
      const InstanceRow* row = master_.state().find(report.instance);
      const bool lost_tasks = row != nullptr && !row->planned.empty();
      lose_logs(report.instance);
      forget_worker(report.instance);
      master_.instance_gone(report.instance, said, heard, {report.billed_from, report.reason});
      if (lost_tasks && cadence_.on_capacity) want_round();
      break;
    }
    case CloudReportKind::notice: {
      const InstanceRow* row = master_.state().find(report.instance);
      if (row == nullptr || row->released) break;  // told before
      master_.evict(report.instance, CauseCode::interrupted, heard);
      if (cadence_.on_capacity) want_round();
      break;
    }
    case CloudReportKind::clock:
      if (std::exchange(end_came_early_, false)) ask_after_all();
      break;
    case CloudReportKind::offerings:
      break;
  }
  commit();
}

void MasterActorImpl::forget_worker(InstanceId id) {
  workers_.erase(id);
  unheard_.erase(id);
  end_log_readers(id);
}

/// Asks the workers that run something; the last answer, or the lack of it, starts the decision.
/// Plain messages: CAF searches an actor's open requests one by one.
void MasterActorImpl::gather() {
  samples_.clear();
  progress_.clear();
  ++sample_round_;
  if (cadence_.wants_throughput) {
    for (const auto& [id, connection] : workers_) {
      const InstanceRow* row = master_.state().find(id);
      if (row == nullptr || row->occupants.empty() || !connection.worker) continue;
      awaiting_samples_.insert(id);
      send(connection.worker, sample_atom_v, sample_round_);
    }
  }
  if (awaiting_samples_.empty()) return decide();
  timer_.after(setup_.settings.sample_timeout, [this, sample_round = sample_round_] {
    if (sample_round == sample_round_ && !awaiting_samples_.empty()) decide();
  });
}

void MasterActorImpl::on_samples(const SampleAnswer& answer) {
  const bool unasked = answer.sample_round == kUnasked;
  if (!unasked) {
    if (answer.sample_round != sample_round_) return;
    if (awaiting_samples_.erase(answer.instance) == 0) return;
  }
  const auto is_present = [&](TaskId id, Attempt attempt) {
    const TaskRow* task = master_.state().find(id);
    return task != nullptr && task->attempt == attempt && is_there(id, answer.instance);
  };
  for (const TaskThroughput& sample : answer.samples) {
    if (unasked || !is_present(sample.task, sample.attempt)) continue;
    samples_.push_back({sample.task, static_cast<double>(sample.scaled) / TaskThroughput::kOne});
  }
  std::vector<JobProgress> progress;
  for (const TaskProgress& each : answer.progress) {
    if (is_present(each.said.task, each.attempt)) progress.push_back(each.said);
  }
  if (unasked) {
    const bool heard = master_.note_progress(std::move(progress), now());
    if (heard && cadence_.on_progress) want_round();
    return commit();
  }
  progress_.insert(progress_.end(), progress.begin(), progress.end());
  if (awaiting_samples_.empty()) decide();
}

/// What stands beside the master hears of what is about to go on record.
void MasterActorImpl::look_at(const std::vector<Event>& events) {
  events_since_snapshot_ += weight_of(events);
  watch(events);
  decisions_.watch(events);
  tally_.watch(events, master_.state());
  if (seat_ && !events.empty()) seat_->follow(events);
}

/// Hands what has happened to the journal; effects and `then` follow when it is durable.
void MasterActorImpl::commit(std::function<void()> then) {
  Commit commit = master_.commit();
  for (const EndInstance& end : commit.at_once) end_now(end.instance);
  if (commit.events.empty() && commit.effects.empty() && !then) return;
  if (commit.events.empty() && pending_.empty()) {
    for (const Effect& effect : commit.effects) {
      std::visit([this](const auto& e) { perform(e); }, effect);
    }
    if (then) then();
    return;
  }
  look_at(commit.events);
  sample_figures();
  pending_.push_back({std::move(commit.effects), std::move(then)});
  if (setup_.history != nullptr) {
    for (JobHistory& job : commit.over) setup_.history->add(std::move(job));
  }
  // A journal may answer at once or from its own thread, to which the actor is a stranger.
  setup_.journal->append(
      std::move(commit.events), [this, here = std::this_thread::get_id(),
                                 address = caf::actor_cast<caf::weak_actor_ptr>(this)] {
        if (std::this_thread::get_id() == here) return on_durable();
        if (auto self = caf::actor_cast<MasterActor>(address.lock())) {
          caf::anon_send<caf::message_priority::high>(self, Wakeup{[this] { on_durable(); }});
        }
      });
  save_snapshot_if_due();
}

void MasterActorImpl::on_durable() {
  const Pending durable = std::move(pending_.front());
  pending_.pop_front();
  for (const Effect& effect : durable.effects) {
    std::visit([this](const auto& e) { perform(e); }, effect);
  }
  if (durable.then) durable.then();
}

/// The worker of an instance that can be spoken to now; null when there is none.
WorkerActor* MasterActorImpl::worker_on(InstanceId id) {
  const auto found = workers_.find(id);
  return found == workers_.end() || !found->second.worker ? nullptr : &found->second.worker;
}

void MasterActorImpl::perform(const StartTask& effect) {
  WorkerActor* worker = worker_on(effect.on);
  const TaskRow* task = master_.state().find(effect.task);
  if (worker == nullptr || task == nullptr || task->attempt != effect.attempt) return;
  const JobRow& row = master_.state().job(task->job);
  send(*worker, start_atom_v,
       StartOrder{row.job.id, master_.state().spec(*task), effect.attempt, task->held.amount,
                  row.job.program, row.running_together(), row.job.workload_class, row.job.user});
}

void MasterActorImpl::perform(const StopTask& effect) {
  if (WorkerActor* worker = worker_on(effect.on)) {
    send(*worker, stop_atom_v, effect.task, effect.attempt);
  }
}

void MasterActorImpl::perform(const LaunchInstance& effect) {
  send(setup_.cloud, launch_atom_v,
       LaunchOrder{effect.instance, master_.state().catalog()[effect.type].name,
                   static_cast<std::uint8_t>(effect.market), effect.zone, effect.max_price},
       MasterForCloud{this});
}

void MasterActorImpl::perform(const EndInstance& effect) {
  if (!logs_ || !logs_->holds(effect.instance, timer_.now())) end_now(effect.instance);
}

void MasterActorImpl::perform(const AcknowledgeAttempt& effect) {
  if (logs_ && logs_->begin({effect.task, effect.attempt}, effect.on)) return;
  if (WorkerActor* worker = worker_on(effect.on)) {
    send(*worker, ack_atom_v, effect.task, effect.attempt);
  }
}

void MasterActorImpl::perform(const TellJobOver& effect) {
  const JobEnd end{effect.job,   effect.outcome, position_of(effect.first),
                   effect.tasks, effect.whole,   effect.broken};
  newest_ends_.add(end);
  for (const JobListener& listener : listeners_.take(effect.job)) send(listener, over_atom_v, end);
}

}  // namespace muster
