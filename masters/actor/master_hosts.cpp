// By these functions the parts of a master's actor speak to the rest of the world, and to each
// other.

#include <utility>

#include "masters/actor/master_actor.hpp"

namespace muster {

MasterLogs::Workers MasterActorImpl::log_host() {
  MasterLogs::Workers host;
  host.can_ask = [this](InstanceId on) { return links_.on(on) != nullptr; };
  host.ask = [this](InstanceId on, const LogRequest& request) { send(*links_.on(on), request); };
  host.acknowledge = [this](InstanceId on, const LogName& name) {
    if (const WorkerActor* worker = links_.on(on)) {
      send(*worker, ack_atom_v, name.task, name.attempt);
    }
  };
  host.free = [this](InstanceId id) { end_now(id); };
  return host;
}

ExecQuestions::Host MasterActorImpl::exec_host() {
  ExecQuestions::Host host;
  host.can_ask = [this](InstanceId on) { return links_.on(on) != nullptr; };
  host.ask = [this](InstanceId on, const ExecRequest& request) { send(*links_.on(on), request); };
  host.now = [this] { return now(); };
  return host;
}

CloudLink::Host MasterActorImpl::link_host() {
  CloudLink::Host host;
  host.greet = [this] { send(setup_.cloud, greet_atom_v, MasterForCloud{this}); };
  host.now = [this] { return now(); };
  host.wake = [this](Instant when) { cloud_.ask_at(when); };
  return host;
}

WorkerNews::Host MasterActorImpl::worker_host() {
  WorkerNews::Host host;
  host.monitor = [this](const WorkerActor& worker) { monitor(worker); };
  host.stop = [this](const WorkerActor& worker, TaskId task, Attempt attempt) {
    send(worker, stop_atom_v, task, attempt);
  };
  host.greet = [this](const WorkerActor& worker) { send(worker, greet_atom_v); };
  host.sample = [this](const WorkerActor& worker, std::uint64_t sample_round) {
    send(worker, sample_atom_v, sample_round);
  };
  host.ends = [this](TaskId task) { metrics_.settle(task); };
  host.end = [this](InstanceId id) { perform(EndInstance{id}); };
  host.remind = [this] { cloud_.remind_later(); };
  return host;
}

CloudWatch::Host MasterActorImpl::cloud_host() {
  CloudWatch::Host host;
  host.takes_more = [this] { return setup_.journal->trouble().empty(); };
  host.order_fleet = [this] { rounds_.order_fleet(); };
  host.await_tick = [this] { rounds_.await_tick(); };
  return host;
}

PlannerSeat::Setup MasterActorImpl::seat_setup() {
  return {setup_.planner, setup_.stopwatch, [this](Duration took) { answers_.note_time(took); },
          setup_.save_snapshot};
}

Rounds::Host MasterActorImpl::round_host() {
  Rounds::Host host;
  host.ask_samples = [this](std::uint64_t sample_round) {
    return workers_.ask_samples(sample_round);
  };
  host.stopwatch = setup_.stopwatch;
  host.took = [this](Duration took) { answers_.note_time(took); };
  host.begin_slice = [this] { answers_.begin_slice(); };
  host.end_slice = [this](bool more_follow) { answers_.end_slice(more_follow); };
  host.note = setup_.note;
  return host;
}

MetricsIntake::Host MasterActorImpl::metrics_host() {
  MetricsIntake::Host host;
  host.recorded = [this] {
    if (master_.cadence().wants_metrics) rounds_.await_tick();
  };
  host.takes_more = [this] { return setup_.journal->trouble().empty(); };
  return host;
}

CellAnswers::Setup MasterActorImpl::answers_setup() {
  return {setup_.journal, setup_.times, setup_.keep_sample, setup_.node_trouble};
}

CellAnswers::Host MasterActorImpl::answers_host() {
  CellAnswers::Host host;
  host.planner_trouble = [this] { return rounds_.trouble(); };
  host.workers = [this] { return links_.standings(); };
  return host;
}

SiteRequests::Host MasterActorImpl::site_host() {
  SiteRequests::Host host;
  host.takes_jobs = [this] {
    const Journal& journal = *setup_.journal;
    return journal.trouble().empty() && journal.strain().empty() && !seat_.lags();
  };
  host.monitor = [this](const JobListener& listener) { monitor(listener); };
  host.tell = [this](const JobListener& listener, const JobEnd& end) {
    send(listener, over_atom_v, end);
  };
  return host;
}

Commits::Host MasterActorImpl::commit_host() {
  Commits::Host host;
  host.end_now = [this](InstanceId id) { end_now(id); };
  // Those who stand beside the master hear of what is about to go on record.
  host.watch = [this](const std::vector<Event>& events) {
    cloud_.watch(events);
    workers_.watch_services(events);
    answers_.watch(events);
    seat_.follow(events);
  };
  host.watched = [this] { answers_.sample(); };
  host.perform = [this](const Effect& effect) {
    std::visit([this](const auto& each) { perform(each); }, effect);
  };
  host.appended = [this] { seat_.save_if_due(); };
  return host;
}

}  // namespace muster
