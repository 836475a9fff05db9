#include "workers/worker_duties.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

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

WorkerDuties::WorkerDuties(const WorkerSetup& setup, WorkerPort& port)
    : port_(port),
      instance_(setup.instance),
      type_(setup.type),
      capacity_(setup.capacity),
      remembered_(setup.remembered),
      // Numbers of an earlier process of this worker are not used again.
      hellos_(static_cast<std::uint64_t>(port.now().time_since_epoch().count())) {
  executor_ = setup.make_executor(setup.instance, setup.type, *this);
  adopt();
}

// The executor first: it may call its worker until it is gone.
void WorkerDuties::end() {
  executor_.reset();
  port_.end();
}

void WorkerDuties::started(TaskId task, Attempt attempt, Duration fetch, Duration build) {
  WorkerReport details = of_kind(WorkerReportKind::started);
  details.fetch = fetch;
  details.build = build;
  report(task, attempt, std::move(details));
}

void WorkerDuties::checkpointed(TaskId task, Attempt attempt, Duration upload, ExecutionEnd end) {
  WorkerReport details = of_kind(WorkerReportKind::checkpointed);
  details.upload = upload;
  over(task, attempt, std::move(details), std::move(end));
}

void WorkerDuties::finished(TaskId task, Attempt attempt, ExecutionEnd end) {
  over(task, attempt, of_kind(WorkerReportKind::finished), std::move(end));
}

void WorkerDuties::failed(TaskId task, Attempt attempt, std::string reason, ExecutionEnd end) {
  WorkerReport details = of_kind(WorkerReportKind::failed);
  details.reason = std::move(reason);
  over(task, attempt, std::move(details), std::move(end));
}

void WorkerDuties::rejected(TaskId task, Attempt attempt, std::string reason) {
  WorkerReport details = of_kind(WorkerReportKind::rejected);
  details.reason = std::move(reason);
  over(task, attempt, std::move(details), {});
}

void WorkerDuties::progressed(TaskId /*task*/, Attempt /*attempt*/) {
  answer_sample(kUnasked);
}

void WorkerDuties::reported(std::vector<AttemptMetrics> said) {
  port_.say(MetricsReport{instance_, std::move(said)});
}

void WorkerDuties::filled(std::vector<FilledLog> logs) {
  port_.say(FilledLogs{instance_, std::move(logs)});
}

/// Attempts that an earlier process of this worker began are taken as if they had begun here.
void WorkerDuties::adopt() {
  for (const FoundExecution& found : executor_->adopt()) {
    Open& open = open_[{found.task, found.attempt}];
    open.granted = found.granted;
    hold(found.granted);
  }
}

WorkerReport WorkerDuties::Open::newest() const {
  return end ? *end : before_end();
}

WorkerReport WorkerDuties::Open::before_end() const {
  WorkerReport report = of_kind(started ? WorkerReportKind::started : WorkerReportKind::accepted);
  report.fetch = fetch;
  report.build = build;
  return report;
}

/// The master takes the values of an attempt until its end. Those that are said again therefore
/// come before the end, and the hello, which opens the link, says how the attempt was until then.
void WorkerDuties::greet() {
  std::vector<WorkerReport> ends;
  WorkerHello hello;
  hello.instance = instance_;
  hello.number = ++hellos_;
  hello.capacity = capacity_;
  hello.limits = executor_->limits();
  hello.isolation = executor_->isolation();
  hello.own_checkpoints = executor_->own_checkpoints();
  for (const auto& [key, open] : open_) {
    const bool ends_later = open.end && executor_->repeats(key.first, key.second);
    if (ends_later) ends.push_back(*open.end);
    hello.known.push_back(ends_later ? open.before_end() : open.newest());
    hello.known.back().instance = instance_;
    hello.known.back().task = key.first;
    hello.known.back().attempt = key.second;
  }
  port_.say(std::move(hello));
  executor_->repeat_reports();
  for (WorkerReport& end : ends) port_.say(std::move(end));
}

/// The last attempt seen of the task; 0: it has not been, or is not remembered.
Attempt WorkerDuties::newest_of(TaskId task) const {
  Attempt newest = 0;
  if (settled_) {
    const auto settled = settled_->last.find(task);
    if (settled != settled_->last.end()) newest = settled->second;
  }
  const auto after = open_.upper_bound({task, std::numeric_limits<Attempt>::max()});
  if (after != open_.begin() && std::prev(after)->first.first == task) {
    newest = std::max(newest, std::prev(after)->first.second);
  }
  return newest;
}

void WorkerDuties::start(const TaskOrder& order) {
  const TaskId task = order.task.id;
  // Repeated, or overtaken by a newer attempt.
  if (order.attempt <= newest_of(task)) return;
  // The older attempt has not ended here, whatever the master takes it for: both at once would
  // write to one checkpoint.
  bool older_runs = false;
  for (auto at = open_.lower_bound({task, 0}); at != open_.end() && at->first.first == task; ++at) {
    older_runs |= at->second.granted != Resources{};
  }
  // Known before it is rejected, so that the report is kept until it is acknowledged.
  Open& open = open_[{task, order.attempt}];
  if (older_runs || !(used_ + order.granted).fits_in(capacity_)) {
    WorkerReport details = of_kind(WorkerReportKind::rejected);
    details.reason = "its worker has no room for it";
    report(task, order.attempt, std::move(details));
    return;
  }
  open.granted = order.granted;
  hold(order.granted);
  executor_->start(order);
}

void WorkerDuties::acknowledge(TaskId task, Attempt attempt) {
  const auto found = open_.find({task, attempt});
  if (found != open_.end()) {
    // Only what is over can be settled; anything else is a mix-up that a hello clears up.
    if (found->second.end == nullptr) return;
    open_.erase(found);
    if (!settled_) settled_ = std::make_unique<Settled>();
    settled_->remember(task, attempt, remembered_);
  }
  executor_->acknowledged(task, attempt);
}

/// A start that is repeated comes soon after the first one, so the numbers of the last settled
/// attempts, up to a bound, are enough to know it by.
void WorkerDuties::Settled::remember(TaskId task, Attempt attempt, std::size_t most) {
  Attempt& newest = last[task];
  newest = std::max(newest, attempt);
  in_order.emplace_back(task, attempt);
  if (in_order.size() <= most) return;
  const auto [oldest, of] = in_order.front();
  in_order.pop_front();
  const auto found = last.find(oldest);
  if (found != last.end() && found->second == of) last.erase(found);
}

void WorkerDuties::answer_sample(std::uint64_t sample_round) {
  SampleAnswer answer{instance_, sample_round, {}, {}};
  for (const ExecutionSample& sample : executor_->sample()) {
    if (sample.normalized) {
      // A whole number of parts of kOne: exact on the wire and equal on every machine.
      constexpr double kMost = 1e6;  // of a rate that was nearly nothing so far
      const double share = std::min(*sample.normalized, kMost);
      const double parts = share * TaskThroughput::kOne + 0.5;
      answer.samples.push_back({sample.task, sample.attempt, static_cast<std::uint64_t>(parts)});
    }
    if (!sample.progress) continue;
    answer.progress.push_back(
        {{sample.task, sample.progress->done, sample.progress->training}, sample.attempt});
  }
  port_.say(std::move(answer));
}

void WorkerDuties::answer_log(const LogRequest& request) {
  LogPart part = executor_->read_log(
      {request.task, request.attempt, request.error_stream, request.offset, request.max_bytes});
  LogAnswer answer{instance_, request.number, part.offset, std::move(part.text),
                   part.more_may_come};
  answer.unknown = !part.known;
  answer.end = part.end;
  port_.say(std::move(answer));
}

void WorkerDuties::answer_exec(const ExecRequest& request) {
  executor_->exec(request, [this, number = request.number](ExecAnswer answer) {
    answer.instance = instance_;
    answer.number = number;
    port_.say(std::move(answer));
  });
}

void WorkerDuties::answer_usage(const UsageRequest& request) {
  executor_->usage([this, number = request.number](std::vector<AttemptUsage> attempts) {
    port_.say(UsageAnswer{instance_, number, std::move(attempts)});
  });
}

void WorkerDuties::over(TaskId task, Attempt attempt, WorkerReport details, ExecutionEnd end) {
  details.exit_code = end.exit_code;
  details.failure = end.failure;
  details.out_tail = std::move(end.out_tail);
  details.err_tail = std::move(end.err_tail);
  details.out_bytes = end.out_bytes;
  details.err_bytes = end.err_bytes;
  details.used = end.used;
  // Room comes free before the master hears of it: its next order may come at once.
  if (const auto found = open_.find({task, attempt}); found != open_.end()) release(found->second);
  report(task, attempt, std::move(details));
  port_.over(task);
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
  details.instance = instance_;
  details.task = task;
  details.attempt = attempt;
  if (const auto found = open_.find({task, attempt}); found != open_.end()) {
    Open& open = found->second;
    if (details.kind == WorkerReportKind::started) {
      open.started = true;
      open.fetch = details.fetch;
      open.build = details.build;
    } else {
      open.end = std::make_unique<WorkerReport>(details);
    }
  }
  port_.say(std::move(details));
}

}  // namespace muster
