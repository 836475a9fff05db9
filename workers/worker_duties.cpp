#include "workers/worker_duties.hpp"

#include <algorithm>
#include <utility>

// Holds what the master has to know until it has acknowledged it, and says it again with every
// hello. Attempt numbers make repeated orders harmless.

namespace muster {
namespace {

WorkerReport of_kind(WorkerReportKind kind) {
  WorkerReport report;
  report.kind = kind;
  return report;
}

}  // namespace

WorkerDuties::WorkerDuties(WorkerSetup setup, WorkerPort port)
    : setup_(std::move(setup)), port_(std::move(port)) {
  // Numbers of an earlier process of this worker are not used again.
  hellos_ = static_cast<std::uint64_t>(port_.now().time_since_epoch().count());
  executor_ = setup_.make_executor(setup_.instance, setup_.type, make_host());
  adopt();
}

// The executor first: it may call its host until it is gone.
void WorkerDuties::end() {
  executor_.reset();
  setup_.master = nullptr;
  port_ = {};
}

ExecutorHost WorkerDuties::make_host() {
  ExecutorHost host;
  host.now = port_.now;
  host.at = port_.at;
  host.post = port_.post;
  host.started = [this](TaskId task, Attempt attempt, Duration fetch, Duration build) {
    WorkerReport details = of_kind(WorkerReportKind::started);
    details.fetch = fetch;
    details.build = build;
    report(task, attempt, std::move(details));
  };
  host.checkpointed = [this](TaskId task, Attempt attempt, Duration upload, ExecutionEnd end) {
    WorkerReport details = of_kind(WorkerReportKind::checkpointed);
    details.upload = upload;
    over(task, attempt, std::move(details), std::move(end));
  };
  host.finished = [this](TaskId task, Attempt attempt, ExecutionEnd end) {
    over(task, attempt, of_kind(WorkerReportKind::finished), std::move(end));
  };
  host.failed = [this](TaskId task, Attempt attempt, std::string reason, ExecutionEnd end) {
    WorkerReport details = of_kind(WorkerReportKind::failed);
    details.reason = std::move(reason);
    over(task, attempt, std::move(details), std::move(end));
  };
  host.rejected = [this](TaskId task, Attempt attempt, std::string reason) {
    WorkerReport details = of_kind(WorkerReportKind::rejected);
    details.reason = std::move(reason);
    over(task, attempt, std::move(details), {});
  };
  host.progressed = [this](TaskId, Attempt) { answer_sample(kUnasked); };
  return host;
}

/// What an earlier process of this worker began is taken as if it had been begun here.
void WorkerDuties::adopt() {
  for (const FoundExecution& found : executor_->adopt()) {
    newest_[found.task] = std::max(newest_[found.task], found.attempt);
    Open& open = open_[{found.task, found.attempt}];
    open.granted = found.granted;
    open.newest = of_kind(WorkerReportKind::accepted);
    hold(found.granted);
  }
}

void WorkerDuties::greet() {
  WorkerHello hello;
  hello.instance = setup_.instance;
  hello.number = ++hellos_;
  hello.capacity = setup_.capacity;
  hello.limits = executor_->limits();
  hello.isolation = executor_->isolation();
  for (const auto& [key, open] : open_) {
    hello.known.push_back(open.newest);
    hello.known.back().instance = setup_.instance;
    hello.known.back().task = key.first;
    hello.known.back().attempt = key.second;
  }
  port_.hello(std::move(hello));
}

void WorkerDuties::start(const StartOrder& order) {
  const TaskId task = order.task.id;
  Attempt& newest = newest_[task];
  if (order.attempt <= newest) return;  // repeated, or overtaken by a newer attempt
  newest = order.attempt;
  // The older attempt has not ended here, whatever the master takes it for: both at once would
  // write to one checkpoint.
  bool older_runs = false;
  for (auto at = open_.lower_bound({task, 0}); at != open_.end() && at->first.first == task; ++at) {
    older_runs |= at->second.granted != Resources{};
  }
  Open& open = open_[{task, order.attempt}];
  // Known before it is rejected, so that the report is kept until it is acknowledged.
  open.newest = of_kind(WorkerReportKind::accepted);
  if (older_runs || !(used_ + order.granted).fits_in(setup_.capacity)) {
    WorkerReport details = of_kind(WorkerReportKind::rejected);
    details.reason = "its worker has no room for it";
    report(task, order.attempt, std::move(details));
    return;
  }
  open.granted = order.granted;
  hold(order.granted);
  executor_->start({order.job, order.task, order.attempt, order.granted, order.program,
                    order.task_count, order.workload_class, order.user});
}

void WorkerDuties::acknowledge(TaskId task, Attempt attempt) {
  const auto found = open_.find({task, attempt});
  if (found != open_.end()) {
    const WorkerReportKind kind = found->second.newest.kind;
    // Only what is over can be settled; anything else is a mix-up that a hello clears up.
    if (kind == WorkerReportKind::accepted || kind == WorkerReportKind::started) return;
    open_.erase(found);
    acknowledged_.emplace_back(task, attempt);
    if (acknowledged_.size() > setup_.remembered) forget_oldest();
  }
  executor_->acknowledged(task, attempt);
}

/// A start that is repeated comes soon after the first one, so that the numbers of the last so many
/// settled attempts are enough to know it by.
void WorkerDuties::forget_oldest() {
  const auto [task, attempt] = acknowledged_.front();
  acknowledged_.pop_front();
  const auto newest = newest_.find(task);
  if (newest != newest_.end() && newest->second == attempt) newest_.erase(newest);
}

void WorkerDuties::answer_sample(std::uint64_t sample_round) {
  SampleAnswer answer{setup_.instance, sample_round, {}, {}};
  for (const ExecutionSample& sample : executor_->sample()) {
    if (sample.normalized) {
      // A whole number of parts of kOne: exact on the wire and the same on every machine.
      constexpr double kMost = 1e6;  // of a rate that was nearly nothing so far
      const double share = std::min(*sample.normalized, kMost);
      const double parts = share * TaskThroughput::kOne + 0.5;
      answer.samples.push_back({sample.task, sample.attempt, static_cast<std::uint64_t>(parts)});
    }
    if (!sample.progress) continue;
    answer.progress.push_back(
        {{sample.task, sample.progress->done, sample.progress->training}, sample.attempt});
  }
  port_.samples(std::move(answer));
}

void WorkerDuties::answer_log(const LogRequest& request) {
  LogPart part = executor_->read_log(
      {request.task, request.attempt, request.error_stream, request.offset, request.max_bytes});
  LogAnswer answer{setup_.instance, request.number, part.offset, std::move(part.text),
                   part.more_may_come};
  answer.unknown = !part.known;
  answer.end = part.end;
  port_.log(std::move(answer));
}

void WorkerDuties::over(TaskId task, Attempt attempt, WorkerReport details, ExecutionEnd end) {
  details.exit_code = end.exit_code;
  details.failure = end.failure;
  details.out_tail = std::move(end.out_tail);
  details.err_tail = std::move(end.err_tail);
  details.out_bytes = end.out_bytes;
  details.err_bytes = end.err_bytes;
  // Room comes free before the master hears of it: its next order may come at once.
  if (const auto found = open_.find({task, attempt}); found != open_.end()) release(found->second);
  report(task, attempt, std::move(details));
  if (when_over_) when_over_(task);
}

void WorkerDuties::hold(const Resources& granted) {
  used_ += granted;
  holding_ += granted != Resources{};
}

void WorkerDuties::release(Open& open) {
  used_ -= open.granted;
  holding_ -= open.granted != Resources{};
  open.granted = {};
  if (holding_ == 0) used_ = {};  // no rounding error outlives the last attempt
}

void WorkerDuties::report(TaskId task, Attempt attempt, WorkerReport details) {
  details.instance = setup_.instance;
  details.task = task;
  details.attempt = attempt;
  if (const auto found = open_.find({task, attempt}); found != open_.end()) {
    found->second.newest = details;
  }
  port_.report(std::move(details));
}

}  // namespace muster
