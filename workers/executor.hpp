#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/event.hpp"
#include "model/exec.hpp"
#include "model/filled_log.hpp"
#include "model/ids.hpp"
#include "model/job.hpp"
#include "model/task_order.hpp"
#include "model/time.hpp"
#include "model/usage.hpp"

namespace muster {

/// How an attempt's process ended and the last of what it wrote; empty for what never was one.
struct ExecutionEnd {
  std::int32_t exit_code = 0;  ///< 128+n: signal n
  std::string out_tail;
  std::string err_tail;
  FailureKind failure = FailureKind::unknown;  ///< of an attempt that has failed
  std::uint64_t out_bytes = 0;                 ///< all that it wrote
  std::uint64_t err_bytes = 0;
  Usage used{};
};

/// A part of what an attempt has written.
struct LogPart {
  std::uint64_t offset = 0;  ///< where `text` begins: later than asked when older text is gone
  std::string text;
  bool more_may_come = false;
  bool known = false;     ///< there is something of the attempt here
  std::uint64_t end = 0;  ///< all that it has written so far
};
struct LogPlace {
  TaskId task;
  Attempt attempt = 0;
  bool error_stream = false;
  std::uint64_t offset = 0;
  std::uint32_t max_bytes = 0;
};

/// An attempt that an executor of an earlier process of this worker has begun.
struct FoundExecution {
  TaskId task;
  Attempt attempt = 0;
  Resources granted;
};

/// How far an attempt says that its work has come.
struct ExecutionProgress {
  double done = 0;  ///< units; of the first task of an elastic job: of all the job's work
  std::optional<TrainingSample> training{};
};

/// How one attempt does at the moment of asking.
struct ExecutionSample {
  TaskId task;
  Attempt attempt = 0;
  std::optional<double> normalized = 1;  ///< throughput (0..1]; nothing: not known
  std::optional<ExecutionProgress> progress{};
};

/// Parts of a worker that its executor may use. Every call has to come from the worker's own thread
/// of control, except `post`, which any thread may call.
struct ExecutorHost {
  std::function<Instant()> now;
  std::function<void(Instant, std::function<void()>)> at;  ///< runs the step in the worker then
  std::function<void(std::function<void()>)> post;         ///< runs the step in the worker soon

  std::function<void(TaskId, Attempt, Duration fetch, Duration build)> started;
  std::function<void(TaskId, Attempt, Duration upload, ExecutionEnd)> checkpointed;
  std::function<void(TaskId, Attempt, ExecutionEnd)> finished;
  std::function<void(TaskId, Attempt, std::string reason, ExecutionEnd)> failed;
  /// It was not begun, and could not be now: no fault of what was to run.
  std::function<void(TaskId, Attempt, std::string reason)> rejected;
  /// Its job goes on at another pace: worth knowing before the next sample is asked for.
  std::function<void(TaskId, Attempt)> progressed;
  /// All that attempts have reported of themselves so far.
  std::function<void(std::vector<AttemptMetrics>)> reported;
  /// Files of the attempts' output are full.
  std::function<void(std::vector<FilledLog>)> filled;
};

/// The host as an interface, which costs a worker no memory: a replay may have a million of them.
/// Every call has to come from the worker's own thread of control. It outlives the executor.
class WorkerCalls {
 public:
  virtual ~WorkerCalls() = default;

  virtual Instant now() const = 0;
  virtual void at(Instant when, std::function<void()> step) = 0;
  virtual void post(std::function<void()> step) = 0;
  virtual void started(TaskId task, Attempt attempt, Duration fetch, Duration build) = 0;
  virtual void checkpointed(TaskId task, Attempt attempt, Duration upload, ExecutionEnd end) = 0;
  virtual void finished(TaskId task, Attempt attempt, ExecutionEnd end) = 0;
  virtual void failed(TaskId task, Attempt attempt, std::string reason, ExecutionEnd end) = 0;
  virtual void rejected(TaskId task, Attempt attempt, std::string reason) = 0;
  virtual void progressed(TaskId task, Attempt attempt) = 0;
  virtual void reported(std::vector<AttemptMetrics> said) = 0;
  virtual void filled(std::vector<FilledLog> logs) = 0;

  /// The calls as functions, which may be copied; `post` works from any thread and after the end of
  /// the worker.
  operator ExecutorHost();  // NOLINT(google-explicit-constructor): factories take either

 protected:
  virtual std::function<void(std::function<void()>)> poster() = 0;
};

/// How a worker runs tasks. Each attempt that is started ends with exactly one of checkpointed
/// (after stop), finished, failed or rejected.
class Executor {
 public:
  virtual ~Executor() = default;

  virtual void start(const TaskOrder& order) = 0;
  /// Lets the attempt save a checkpoint and end. Has no effect on an attempt that is over.
  virtual void stop(TaskId task, Attempt attempt) = 0;
  /// The throughput of every attempt that has started, ordered by task.
  virtual std::vector<ExecutionSample> sample() = 0;
  /// Says again what attempts have reported of themselves, and how far files of their output are
  /// full, as it may have got lost: of those that are over before this returns.
  virtual void repeat_reports() {}
  /// The attempt is over, and repeat_reports() says again what it has reported.
  virtual bool repeats(TaskId, Attempt) const { return false; }

  /// Takes over attempts that an earlier process of this worker has begun and whose ends are not
  /// acknowledged; called once, before anything else. Found attempts are reported as if they had
  /// been started here: running ones as started, ended ones as checkpointed, finished or failed.
  virtual std::vector<FoundExecution> adopt() { return {}; }
  /// The outcome of the attempt is on record: its files may be removed (not at once: its log stays
  /// readable for a while).
  virtual void acknowledged(TaskId, Attempt) {}
  /// A part of what the attempt has written; unknown for an attempt that is not here any more.
  virtual LogPart read_log(const LogPlace&) { return {}; }
  /// Begins a command beside a running attempt, or goes on with one; does not wait for it. `answer`
  /// is called once, perhaps later, in the worker's thread of control, unless this is gone by then.
  virtual void exec(const ExecRequest& request, const std::function<void(ExecAnswer)>& answer) {
    answer(exec_trouble(request, ExecTrouble::unsupported, "its worker runs no programs"));
  }
  /// Usage of all attempts that run. `answer` is called once, perhaps a little later, in the
  /// worker's thread of control, unless this is gone by then. Without a question nothing is
  /// measured for it.
  virtual void usage(const std::function<void(std::vector<AttemptUsage>)>& answer) { answer({}); }
  /// One line: how attempts are kept within what they are granted.
  virtual std::string limits() const { return "none"; }
  /// A word or two: the isolation of tasks.
  virtual std::string isolation() const { return "none"; }
  /// The machine does not share the cluster's folder of checkpoints.
  virtual bool own_checkpoints() const { return false; }
};

/// Makes the executor of an instance's worker. It may ask for an ExecutorHost as well.
using ExecutorFactory = std::function<std::unique_ptr<Executor>(InstanceId, TypeId, WorkerCalls&)>;

inline WorkerCalls::operator ExecutorHost() {
  ExecutorHost host;
  host.now = [this] { return now(); };
  host.at = [this](Instant when, std::function<void()> step) { at(when, std::move(step)); };
  host.post = poster();
  host.started = [this](TaskId task, Attempt attempt, Duration fetch, Duration build) {
    started(task, attempt, fetch, build);
  };
  host.checkpointed = [this](TaskId task, Attempt attempt, Duration upload, ExecutionEnd end) {
    checkpointed(task, attempt, upload, std::move(end));
  };
  host.finished = [this](TaskId task, Attempt attempt, ExecutionEnd end) {
    finished(task, attempt, std::move(end));
  };
  host.failed = [this](TaskId task, Attempt attempt, std::string reason, ExecutionEnd end) {
    failed(task, attempt, std::move(reason), std::move(end));
  };
  host.rejected = [this](TaskId task, Attempt attempt, std::string reason) {
    rejected(task, attempt, std::move(reason));
  };
  host.progressed = [this](TaskId task, Attempt attempt) { progressed(task, attempt); };
  host.reported = [this](std::vector<AttemptMetrics> said) { reported(std::move(said)); };
  host.filled = [this](std::vector<FilledLog> logs) { filled(std::move(logs)); };
  return host;
}

}  // namespace muster
