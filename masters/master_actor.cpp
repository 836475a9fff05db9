#include "masters/master_actor.hpp"

#include <algorithm>
#include <utility>

namespace muster {

MasterNode::MasterNode(caf::actor_config& config, MasterSetup setup)
    : MasterActor::base(config),
      setup_(std::move(setup)),
      master_(std::move(setup_.parts)),
      cadence_(master_.cadence()),
      timer_(this, setup_.epoch) {}

void MasterNode::on_exit() {
  workers_.clear();
  listeners_.clear();
  setup_.cloud = nullptr;
}

MasterActor::behavior_type MasterNode::make_behavior() {
  if (cadence_.period > Duration::zero()) tick();
  return {
      [this](accept_atom, Job& job, const JobListener& listener) {
        return accept(std::move(job), listener);
      },
      [this](cancel_atom, JobId id) {
        master_.cancel(id, now());
        carry_out();
      },
      [this](hello_atom, InstanceId id, const WorkerActor& worker) {
        workers_[id] = worker;
        master_.instance_ready(id, now());
        if (cadence_.on_capacity) want_round();
        carry_out();
      },
      [this](const WorkerReport& report) { hear_worker(report); },
      [this](const SampleAnswer& answer) { hear_samples(answer); },
      [this](const CloudReport& report) { hear_cloud(report); },
      [this](load_atom) {
        const ClusterState& state = master_.state();
        return LoadReport{state.jobs().size(), state.pending().size(), state.instances().size()};
      },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

caf::result<JobId> MasterNode::accept(Job job, const JobListener& listener) {
  const JobId id = job.id;
  const AcceptResult result = master_.accept(std::move(job), now());
  if (result == AcceptResult::known_already) return ActorError::duplicate_job;
  if (result == AcceptResult::invalid) return ActorError::invalid_job;
  if (listener) listeners_[id] = listener;
  if (cadence_.on_arrival) want_round();
  carry_out();
  return id;
}

void MasterNode::hear_worker(const WorkerReport& report) {
  const std::size_t jobs_before = master_.state().jobs().size();
  switch (report.kind) {
    case WorkerReportKind::started:
      master_.task_started({report.task, report.attempt, report.fetch, report.build}, now());
      break;
    case WorkerReportKind::left:
      master_.task_left({report.task, report.attempt, report.upload}, now());
      break;
    case WorkerReportKind::finished:
      master_.task_finished({report.task, report.attempt}, now());
      break;
    case WorkerReportKind::failed:
      master_.task_failed({report.task, report.attempt, report.reason}, now());
      break;
  }
  const bool departed = master_.state().jobs().size() < jobs_before;
  const bool freed = report.kind != WorkerReportKind::started;
  if ((departed && cadence_.on_departure) || (freed && cadence_.on_capacity)) want_round();
  carry_out();
}

void MasterNode::hear_cloud(const CloudReport& report) {
  switch (report.kind) {
    case CloudReportKind::up:
      master_.instance_up(report.instance, now());
      break;
    case CloudReportKind::refused:
      master_.instance_refused(report.instance, now());
      break;
    case CloudReportKind::gone:
      workers_.erase(report.instance);
      master_.instance_gone(report.instance, now());
      break;
  }
  carry_out();
}

void MasterNode::tick() {
  want_round();
  timer_.at(floor_to(now(), cadence_.period) + cadence_.period, [this] { tick(); });
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
    for (const auto& [id, worker] : workers_) {
      const InstanceRow* row = master_.state().find(id);
      if (row == nullptr || row->occupants.empty()) continue;
      silent_.insert(id);
      send(worker, sample_atom_v, asking_);
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
  setup_.times->ms.push_back(to_seconds(setup_.stopwatch() - before) * 1e3);
  carry_out();
}

void MasterNode::carry_out() {
  for (const Effect& effect : master_.commit()) {
    std::visit([this](const auto& e) { perform(e); }, effect);
  }
}

void MasterNode::perform(const StartTask& effect) {
  const auto worker = workers_.find(effect.on);
  const TaskRow* task = master_.state().find(effect.task);
  if (worker == workers_.end() || task == nullptr) return;
  const InstanceRow& place = *master_.state().find(effect.on);
  const Resources& granted = master_.state().demand(*task, place.type)->amount;
  send(worker->second, start_atom_v,
       StartOrder{master_.state().job(task->job).job.id, master_.state().spec(*task),
                  effect.attempt, granted});
}

void MasterNode::perform(const StopTask& effect) {
  const auto worker = workers_.find(effect.on);
  if (worker != workers_.end()) send(worker->second, stop_atom_v, effect.task, effect.attempt);
}

void MasterNode::perform(const LaunchInstance& effect) {
  send(setup_.cloud, launch_atom_v,
       LaunchOrder{effect.instance, effect.type, static_cast<std::uint8_t>(effect.market)},
       MasterActor{this});
}

void MasterNode::perform(const EndInstance& effect) {
  send(setup_.cloud, end_atom_v, effect.instance);
}

void MasterNode::perform(const TellJobOver& effect) {
  const auto listener = listeners_.find(effect.job);
  if (listener == listeners_.end()) return;
  send(listener->second, over_atom_v, effect.job, effect.outcome);
  listeners_.erase(listener);
}

}  // namespace muster
