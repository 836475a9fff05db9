#include "workers/worker_actor.hpp"

#include <utility>

namespace muster {

Worker::Worker(caf::actor_config& config, WorkerSetup setup)
    : WorkerActor::base(config), setup_(std::move(setup)), timer_(this, setup_.epoch) {
  executor_ = setup_.make_executor(setup_.instance, setup_.type, make_host());
}

void Worker::on_exit() {
  executor_.reset();
  setup_.master = nullptr;
}

WorkerActor::behavior_type Worker::make_behavior() {
  send(setup_.master, hello_atom_v, setup_.instance, WorkerActor{this});
  return {
      [this](start_atom, const StartOrder& order) { start(order); },
      [this](stop_atom, TaskId task, Attempt attempt) { executor_->stop(task, attempt); },
      [this](sample_atom, std::uint64_t asking) {
        SampleAnswer answer{setup_.instance, asking, {}};
        for (const ExecutionThroughput& sample : executor_->sample()) {
          const auto scaled =
              static_cast<std::uint64_t>(sample.normalized * TaskThroughput::kOne + 0.5);
          answer.samples.push_back({sample.task, sample.attempt, scaled});
        }
        send(setup_.master, std::move(answer));
      },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

ExecutorHost Worker::make_host() {
  ExecutorHost host;
  host.now = [this] { return timer_.now(); };
  host.at = [this](Instant when, std::function<void()> step) { timer_.at(when, std::move(step)); };
  // A weak address: what comes after the worker's end is dropped.
  host.post = [address = caf::actor_cast<caf::weak_actor_ptr>(this)](std::function<void()> step) {
    if (auto worker = caf::actor_cast<WorkerActor>(address.lock())) {
      caf::anon_send(worker, Wakeup{std::move(step)});
    }
  };
  host.started = [this](TaskId task, Attempt attempt, Duration fetch, Duration build) {
    WorkerReport details;
    details.fetch = fetch;
    details.build = build;
    report(task, attempt, WorkerReportKind::started, std::move(details));
  };
  host.left = [this](TaskId task, Attempt attempt, Duration upload) {
    WorkerReport details;
    details.upload = upload;
    release(task);
    report(task, attempt, WorkerReportKind::left, std::move(details));
  };
  host.finished = [this](TaskId task, Attempt attempt) {
    release(task);
    report(task, attempt, WorkerReportKind::finished, {});
  };
  host.failed = [this](TaskId task, Attempt attempt, std::string reason) {
    WorkerReport details;
    details.reason = std::move(reason);
    release(task);
    report(task, attempt, WorkerReportKind::failed, std::move(details));
  };
  return host;
}

void Worker::start(const StartOrder& order) {
  const TaskId task = order.task.id;
  Attempt& newest = newest_[task];
  if (order.attempt <= newest) return;  // repeated, or overtaken by a newer attempt
  newest = order.attempt;
  if (granted_.contains(task) || !(used_ + order.granted).fits_in(setup_.capacity)) {
    WorkerReport details;
    details.reason = "the instance has no room for the attempt";
    report(task, order.attempt, WorkerReportKind::failed, std::move(details));
    return;
  }
  granted_[task] = order.granted;
  used_ += order.granted;
  executor_->start({order.job, order.task, order.attempt, order.granted});
}

void Worker::release(TaskId task) {
  const auto found = granted_.find(task);
  if (found == granted_.end()) return;
  used_ -= found->second;
  granted_.erase(found);
  if (granted_.empty()) used_ = {};
}

void Worker::report(TaskId task, Attempt attempt, WorkerReportKind kind, WorkerReport details) {
  details.instance = setup_.instance;
  details.task = task;
  details.attempt = attempt;
  details.kind = kind;
  send(setup_.master, std::move(details));
}

}  // namespace muster
