#pragma once

#include <bit>
#include <caf/all.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/messages/cloud_messages.hpp"
#include "actors/messages/inspect.hpp"
#include "model/cancel.hpp"
#include "model/counterparts.hpp"
#include "model/event.hpp"
#include "model/exec.hpp"
#include "model/filled_log.hpp"
#include "model/roster.hpp"
#include "model/task_order.hpp"
#include "model/usage.hpp"

// The messages between actors, but for users' questions (actors/messages/queries.hpp);
// actors/messages/interfaces.hpp says who hears it.
// docs/add-a-message.md lists the places that a new message touches.

namespace muster {

/// Kind of a report on an attempt.
enum class WorkerReportKind : std::uint8_t {
  started,
  checkpointed,
  finished,
  failed,
  accepted,  ///< known to the worker and not started yet; said only in a hello
  rejected   ///< never started: the worker has no room for it
};

/// Report of a worker on an attempt. Durations belong to the kinds they are named for.
struct WorkerReport {
  InstanceId instance;
  TaskId task;
  Attempt attempt = 0;
  WorkerReportKind kind = WorkerReportKind::started;
  Duration fetch{};            ///< started
  Duration build{};            ///< started
  Duration upload{};           ///< checkpointed
  std::string reason;          ///< failed, rejected
  std::int32_t exit_code = 0;  ///< failed, finished, checkpointed: of the process; 128+n: signal n
  std::string out_tail;        ///< checkpointed, finished, failed: the last bytes of what it wrote
  std::string err_tail;
  FailureKind failure = FailureKind::unknown;  ///< failed
  std::uint64_t out_bytes = 0;  ///< checkpointed, finished, failed: all that it wrote
  std::uint64_t err_bytes = 0;
  Usage used{};  ///< checkpointed, finished, failed
};

/// First message of a worker to its master, for the first time or again.
struct WorkerHello {
  InstanceId instance;
  std::uint64_t number = 0;  ///< distinct for each hello of a worker, but for 0: not counted
  Resources capacity;
  std::string limits;  ///< how it keeps tasks within what they are granted
  /// The last report of every attempt whose outcome the master has not settled yet.
  std::vector<WorkerReport> known;
  std::string isolation{};  ///< isolation of its tasks
  /// Its machine does not share the cluster's folder of checkpoints.
  bool own_checkpoints = false;
};

/// Asks for a part of what an attempt has written. Answered by a LogAnswer with the same number.
struct LogRequest {
  std::uint64_t number = 0;
  TaskId task;
  Attempt attempt = 0;
  bool error_stream = false;
  std::uint64_t offset = 0;     ///< of the whole stream, rotated parts included
  std::uint32_t max_bytes = 0;  ///< most bytes of the answer
};
struct LogAnswer {
  InstanceId instance;
  std::uint64_t number = 0;
  std::uint64_t offset = 0;  ///< where `text` begins: later than asked when older text is gone
  std::string text;
  bool more_may_come = false;  ///< the attempt still runs, or the text was cut
  bool unknown = false;        ///< of a worker: nothing of the attempt is there
  std::uint64_t end = 0;       ///< all that the attempt has written so far
  Attempt attempt = 0;         ///< of a master: whose output it is
  std::string lost{};          ///< of a master: why output is missing; empty: no output is
};

/// Normalised throughput of one attempt at the moment of asking, in parts per 2^32 so that it is
/// exact on the wire and equal on every machine.
struct TaskThroughput {
  TaskId task;
  Attempt attempt = 0;
  std::uint64_t scaled = 0;

  static constexpr double kOne = 4294967296.0;
};

/// How far one attempt says that it has come.
struct TaskProgress {
  JobProgress said;
  Attempt attempt = 0;
};

/// Answer of a worker to the question for the throughput of its tasks.
struct SampleAnswer {
  InstanceId instance;
  std::uint64_t sample_round =
      0;  ///< number of the question that it answers; kUnasked: no question
  std::vector<TaskThroughput> samples;
  std::vector<TaskProgress> progress{};
};
/// Said without being asked: some elastic job goes on at another pace.
inline constexpr std::uint64_t kUnasked = 0;

/// Of attempts on an instance that have reported something new, all that each has reported.
struct MetricsReport {
  InstanceId instance;
  std::vector<AttemptMetrics> attempts;
};

/// Of attempts that run on an instance and have filled files of their output, how far these are
/// full. Said when more are, and of all attempts with each hello.
struct FilledLogs {
  InstanceId instance;
  std::vector<FilledLog> logs;
};

/// How long a job's tasks, or those of a part of it, have run together.
struct JobRuntime {
  JobId job;
  std::uint32_t tasks = 0;
  Duration together{};
};

/// Asks for a load, and for what the asker has not heard yet.
struct LoadQuestion {
  std::uint64_t run = 0;        ///< LoadReport::run of the last report that was heard
  std::uint64_t completed = 0;  ///< LoadReport::completed_to, likewise
  JobId failed_after{};         ///< of failed parts only those of higher jobs; none: all
};

/// How loaded a master or a site scheduler is, for those who choose among them. Parts that do not
/// go into one message come with the next ones.
struct LoadReport {
  std::uint64_t active_jobs = 0;
  std::uint64_t pending_tasks = 0;
  std::uint64_t instances = 0;
  double load = 0;  ///< 1: all it has is taken; more: work waits (docs/routing.md)
  Resources used;   ///< of what its instances have, by the tasks on them
  Resources capacity;
  /// Parts of jobs that were terminated here lately: their jobs' other parts are for nothing.
  std::vector<JobId> broken;
  /// Jobs and parts completed here that the one who asks has not said to have heard of, the oldest
  /// first, as far as they are remembered.
  std::vector<JobRuntime> completed;
  /// Parts here, unfinished or over lately, of jobs whose number of failures is bounded and that
  /// have failures.
  std::vector<FailedPart> failed;
  std::uint64_t counting = 0;  ///< unfinished parts here of such jobs
  bool awaits = false;         ///< tasks here wait for their counterparts in other jobs
  /// Of all jobs that ever came here, the one with the highest number of each site.
  std::vector<JobId> newest;
  /// Jobs that another site has numbered and that were refused here lately, because the number was
  /// another job's: their site numbers too low.
  std::vector<JobId> conflicts{};
  std::uint64_t run = 0;           ///< another one after each start: counts begin anew
  std::uint64_t completed_to = 0;  ///< how many were completed, up to the last that is told
  bool more_failed = false;        ///< of higher jobs than those of `failed`
};

/// A job that a site hands to a master, and what the master says to it.
struct SubmitVerdict {
  JobId job;
  bool accepted = false;  ///< also when it had been accepted before
  std::string reason;     ///< why not
  bool conflict = false;  ///< because the number is that of another job here
};

/// How a job has ended, or the part of one that a master had.
struct JobEnd {
  JobId job;
  JobOutcome outcome = JobOutcome::completed;
  std::uint32_t first = 0;  ///< position in the job of the part's first task
  std::uint32_t tasks = 0;  ///< of the part
  std::uint32_t whole = 0;  ///< of the job, which is over when all of them are
  bool broken =
      false;          ///< some of the part's tasks had no end of their own: no other part will help
  bool known = true;  ///< how it ended; else the outcome says nothing
};

/// How a job that is to be cancelled stands with a master or a site. A master's word is durable.
struct CancelVerdict {
  JobId job;
  CancelStanding standing = CancelStanding::unknown;
};

/// How far a cancel has come that a site has taken. It is durable, or everybody has confirmed it.
struct CancelReport {
  JobId job;
  CancelStanding standing = CancelStanding::unknown;  ///< the most that anybody has said
  std::vector<std::string> unconfirmed;  ///< names of the masters and sites that may have it still
};

/// Of a site about jobs whose tasks wait for their counterparts, and about others that have to
/// start.
struct CounterpartQuestion {
  std::uint32_t site = 0;  ///< that has numbered the jobs whose tasks wait
  JobId after{};           ///< of these only higher ones are asked for; not valid: all
  std::vector<CounterpartsAsked> asked{};
  std::vector<CounterpartsTold> told{};
};

/// Answer of a master. Its words of what it was told are durable.
struct CounterpartReport {
  std::vector<TasksOver> over{};  ///< of the jobs that were asked for
  JobId asked_to{};  ///< higher ones are to be asked for again; not valid: all have been answered
  std::vector<AwaitingJob> awaiting{};  ///< by rising numbers
  bool more_await = false;              ///< after the last of these
  std::vector<JobId> unfinished{};      ///< told of, and to be told of again: there is more
};

/// A step that an actor asked to be woken for. It never leaves the process.
struct Wakeup {
  std::function<void()> run;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, WorkerReport& x) {
  return f(caf::meta::type_name("worker_report"), x.instance, x.task, x.attempt, x.kind, x.fetch,
           x.build, x.upload, x.reason, x.exit_code, x.out_tail, x.err_tail, x.failure, x.out_bytes,
           x.err_bytes, x.used);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, WorkerHello& x) {
  return f(caf::meta::type_name("worker_hello"), x.instance, x.number, x.capacity, x.limits,
           x.known, x.isolation, x.own_checkpoints);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, LogRequest& x) {
  return f(caf::meta::type_name("log_request"), x.number, x.task, x.attempt, x.error_stream,
           x.offset, x.max_bytes);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, LogAnswer& x) {
  return f(caf::meta::type_name("log_answer"), x.instance, x.number, x.offset, x.text,
           x.more_may_come, x.unknown, x.end, x.attempt, x.lost);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, ExecRequest& x) {
  return f(caf::meta::type_name("exec_request"), x.number, x.task, x.attempt, x.command, x.user,
           x.token, x.argv, x.terminal, x.term, x.rows, x.columns, x.input_at, x.input,
           x.input_ends, x.signal, x.out_at, x.err_at, x.max_bytes, x.wait, x.ends);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, ExecAnswer& x) {
  return f(caf::meta::type_name("exec_answer"), x.instance, x.number, x.command, x.trouble,
           x.reason, x.attempt, x.input_at, x.out_at, x.out, x.err_at, x.err, x.over, x.exit_code);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, SubmitVerdict& x) {
  return f(caf::meta::type_name("accept_verdict"), x.job, x.accepted, x.reason, x.conflict);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, JobEnd& x) {
  return f(caf::meta::type_name("job_end"), x.job, x.outcome, x.first, x.tasks, x.whole, x.broken,
           x.known);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, IndexRange& x) {
  return f(x.first, x.last);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CounterpartsAsked& x) {
  return f(caf::meta::type_name("counterparts_asked"), x.job, x.ended, x.from);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, TasksOver& x) {
  return f(caf::meta::type_name("tasks_over"), x.job, x.known, x.started, x.over, x.tasks, x.ended,
           x.next, x.completed, x.failed);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, LostTasks& x) {
  return f(caf::meta::type_name("lost_tasks"), x.of, x.tasks, x.why);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CounterpartsTold& x) {
  return f(caf::meta::type_name("counterparts_told"), x.job, x.met, x.lost);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, AwaitedJob& x) {
  return f(caf::meta::type_name("awaited_job"), x.job, x.end);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, AwaitingJob& x) {
  return f(caf::meta::type_name("awaiting_job"), x.job, x.user, x.after);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CounterpartQuestion& x) {
  return f(caf::meta::type_name("counterpart_question"), x.site, x.after, x.asked, x.told);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CounterpartReport& x) {
  return f(caf::meta::type_name("counterpart_report"), x.over, x.asked_to, x.awaiting, x.more_await,
           x.unfinished);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CancelVerdict& x) {
  return f(caf::meta::type_name("cancel_verdict"), x.job, x.standing);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CancelReport& x) {
  return f(caf::meta::type_name("cancel_report"), x.job, x.standing, x.unconfirmed);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, TaskThroughput& x) {
  return f(caf::meta::type_name("task_throughput"), x.task, x.attempt, x.scaled);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, TaskProgress& x) {
  return f(caf::meta::type_name("task_progress"), x.said, x.attempt);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, SampleAnswer& x) {
  return f(caf::meta::type_name("sample_answer"), x.instance, x.sample_round, x.samples,
           x.progress);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, MetricsReport& x) {
  return f(caf::meta::type_name("metrics_report"), x.instance, x.attempts);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, FilledLog& x) {
  return f(caf::meta::type_name("filled_log"), x.task, x.attempt, x.out_bytes, x.err_bytes);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, FilledLogs& x) {
  return f(caf::meta::type_name("filled_logs"), x.instance, x.logs);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, JobRuntime& x) {
  return f(caf::meta::type_name("job_runtime"), x.job, x.tasks, x.together);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, FailedPart& x) {
  return f(caf::meta::type_name("failed_part"), x.job, x.failed, x.allowed);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, LoadQuestion& x) {
  return f(caf::meta::type_name("load_question"), x.run, x.completed, x.failed_after);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, LoadReport& x) {
  auto load = std::bit_cast<std::uint64_t>(x.load);
  const auto take = [&]() -> caf::error {
    x.load = std::bit_cast<double>(load);
    return caf::none;
  };
  return f(caf::meta::type_name("load_report"), x.active_jobs, x.pending_tasks, x.instances, load,
           x.used, x.capacity, x.broken, x.completed, x.failed, x.counting, x.awaits, x.newest,
           x.conflicts, x.run, x.completed_to, x.more_failed, caf::meta::load_callback(take));
}

/// Errors between actors, for those who react to them.
enum class ActorError : std::uint8_t {
  invalid_job = 2,
  unknown,         ///< nothing of that name or number is here
  not_connected,   ///< the actor that would know cannot be reached now
  store_failed,    ///< the store cannot write the change
  too_many,        ///< as many as may be under way are
  other_roster,    ///< the node numbers the cluster's sites and masters in another way
  stopping,        ///< the job will not be completed: nothing of it starts any more
  learns_numbers,  ///< the site does not know yet which numbers it has given out
  too_large,       ///< the answer would be larger than a message between nodes may be
  busy,            ///< as many questions of that kind wait as may
  planner_failed,  ///< the policy has failed and starts again
  out_of_range     ///< the number is not within the bounds that were given for it
};
std::string to_string(ActorError code);

}  // namespace muster

CAF_BEGIN_TYPE_ID_BLOCK(muster, caf::first_custom_type_id)
CAF_ADD_TYPE_ID(muster, (muster::JobId))
CAF_ADD_TYPE_ID(muster, (muster::TaskId))
CAF_ADD_TYPE_ID(muster, (muster::InstanceId))
CAF_ADD_TYPE_ID(muster, (muster::Job))
CAF_ADD_TYPE_ID(muster, (muster::TaskOrder))
CAF_ADD_TYPE_ID(muster, (muster::WorkerReport))
CAF_ADD_TYPE_ID(muster, (muster::TaskThroughput))
CAF_ADD_TYPE_ID(muster, (muster::SampleAnswer))
CAF_ADD_TYPE_ID(muster, (muster::LaunchOrder))
CAF_ADD_TYPE_ID(muster, (muster::CloudReport))
CAF_ADD_TYPE_ID(muster, (muster::JobRuntime))
CAF_ADD_TYPE_ID(muster, (muster::LoadReport))
CAF_ADD_TYPE_ID(muster, (muster::Wakeup))
CAF_ADD_TYPE_ID(muster, (muster::WorkerHello))
CAF_ADD_TYPE_ID(muster, (muster::LogRequest))
CAF_ADD_TYPE_ID(muster, (muster::LogAnswer))
CAF_ADD_TYPE_ID(muster, (muster::SubmitVerdict))
CAF_ADD_TYPE_ID(muster, (std::vector<muster::Job>))
CAF_ADD_TYPE_ID(muster, (std::vector<muster::SubmitVerdict>))
CAF_ADD_TYPE_ID(muster, (muster::JobEnd))
CAF_ADD_TYPE_ID(muster, (std::vector<muster::JobEnd>))
CAF_ADD_TYPE_ID(muster, (std::vector<muster::JobId>))
CAF_ADD_TYPE_ID(muster, (muster::CancelVerdict))
CAF_ADD_TYPE_ID(muster, (muster::CancelReport))
CAF_ADD_TYPE_ID(muster, (std::vector<muster::CancelVerdict>))
CAF_ADD_TYPE_ID(muster, (muster::JobOutcome))
CAF_ADD_TYPE_ID(muster, (muster::ActorError))
CAF_ADD_ATOM(muster, muster, cancel_atom, "cancel")
CAF_ADD_ATOM(muster, muster, over_atom, "over")
CAF_ADD_ATOM(muster, muster, hello_atom, "hello")
CAF_ADD_ATOM(muster, muster, start_atom, "start")
CAF_ADD_ATOM(muster, muster, stop_atom, "stop")
CAF_ADD_ATOM(muster, muster, sample_atom, "sample")
CAF_ADD_ATOM(muster, muster, launch_atom, "launch")
CAF_ADD_ATOM(muster, muster, end_atom, "end")
CAF_ADD_ATOM(muster, muster, load_atom, "load")
CAF_ADD_ATOM(muster, muster, ack_atom, "settled")
CAF_ADD_ATOM(muster, muster, greet_atom, "greet")
CAF_ADD_ATOM(muster, muster, hand_atom, "hand")
CAF_ADD_ATOM(muster, muster, forward_atom, "forward")
CAF_ADD_ATOM(muster, muster, hold_atom, "hold")
CAF_ADD_ATOM(muster, muster, scale_atom, "scale")
CAF_ADD_ATOM(muster, muster, drain_atom, "drain")
CAF_ADD_ATOM(muster, muster, interrupt_atom, "interrupt")
CAF_ADD_ATOM(muster, muster, roles_atom, "roles")
CAF_ADD_ATOM(muster, muster, watch_atom, "watch")
CAF_ADD_ATOM(muster, muster, unwatch_atom, "unwatch")
CAF_ADD_TYPE_ID(muster, (muster::LoadQuestion))
CAF_ADD_TYPE_ID(muster, (muster::MetricsReport))
CAF_ADD_TYPE_ID(muster, (muster::FilledLogs))
CAF_ADD_TYPE_ID(muster, (muster::ExecRequest))
CAF_ADD_TYPE_ID(muster, (muster::ExecAnswer))
CAF_ADD_TYPE_ID(muster, (muster::CounterpartQuestion))
CAF_ADD_TYPE_ID(muster, (muster::CounterpartReport))
CAF_END_TYPE_ID_BLOCK(muster)

CAF_ERROR_CODE_ENUM(muster::ActorError, "muster")
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(muster::Wakeup)
