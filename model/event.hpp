#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/enum_words.hpp"
#include "model/job.hpp"
#include "model/money.hpp"
#include "model/offering.hpp"
#include "model/plan.hpp"
#include "model/task_metrics.hpp"
#include "model/usage.hpp"

// Everything that can happen to a master's state. An event says what became true and when; applying
// the events of a log in order to an empty state gives the state again.

namespace muster {

/// The master took responsibility for a job. Its tasks wait; those beyond what it allows to have a
/// place at once are held.
struct JobAccepted {
  Job job;

  friend bool operator==(const JobAccepted&, const JobAccepted&) = default;
};

/// A waiting task's current reason changed.
struct TaskRefused {
  TaskId task;
  Refusal refusal;

  friend bool operator==(const TaskRefused&, const TaskRefused&) = default;
};

/// A policy round took place.
struct RoundDecided {
  std::uint64_t round = 0;
  RoundNote note;
  /// Regular rounds before it that were not held: nothing had changed since one that changed
  /// nothing.
  std::uint64_t quiet = 0;
  bool settled = false;  ///< asked again with nothing changed, the policy would change nothing
  /// Number of events before this one that came after the state that was decided on.
  std::uint64_t behind = 0;
  Duration took{};           ///< from the time that was decided for to this event
  std::uint64_t budget = 0;  ///< steps that the decision was allowed; 0: any number
  /// Of the cloud's clock before the one of events, where a day's money is capped.
  Duration ahead{};

  friend bool operator==(const RoundDecided&, const RoundDecided&) = default;
};

/// A part of a plan was not carried out.
struct PlanPartRefused {
  TaskId task;          ///< invalid when an instance is meant
  InstanceId instance;  ///< invalid when a task is meant
  Refusal refusal;

  friend bool operator==(const PlanPartRefused&, const PlanPartRefused&) = default;
};

/// An instance was asked for.
struct LaunchRequested {
  InstanceId instance;
  TypeId type;
  Market market = Market::on_demand;
  Price price;  ///< of an hour, at the time of the decision
  Cause cause;
  std::string zone{};  ///< of the offering; empty: the only one
  Price max_price{};   ///< highest price of an hour when it is rented; zero: any price

  friend bool operator==(const LaunchRequested&, const LaunchRequested&) = default;
};

/// The cloud said no. The instance never was; tasks meant for it wait again.
struct LaunchRefused {
  InstanceId instance;
  Refusal refusal;
  CloudReason reason = CloudReason::not_said;

  friend bool operator==(const LaunchRefused&, const LaunchRefused&) = default;
};

/// The instance is up: billing has begun.
struct InstanceUp {
  InstanceId instance;
  std::optional<Instant> billed_from{};  ///< by the cloud's word; the event's time when not said
  Duration ahead{};  ///< of the cloud's clock before the one of events, as far as it is known

  friend bool operator==(const InstanceUp&, const InstanceUp&) = default;
};

/// The instance's worker has said hello: tasks may start.
struct InstanceReady {
  InstanceId instance;

  friend bool operator==(const InstanceReady&, const InstanceReady&) = default;
};

/// The instance's machine does not share the cluster's folder of checkpoints.
struct OwnCheckpoints {
  InstanceId instance;

  friend bool operator==(const OwnCheckpoints&, const OwnCheckpoints&) = default;
};

/// The instance is no longer wanted: no task may be placed on it any more.
struct ReleaseDecided {
  InstanceId instance;
  Cause cause;
  /// The day of the cloud's clock, counted from 1970, whose money is spent; -1: that is not why.
  std::int32_t capped_day = -1;
  double capped_usd = 0;  ///< the cap that was reached then; 0: not said

  friend bool operator==(const ReleaseDecided&, const ReleaseDecided&) = default;
};

/// The cloud was asked to end the instance: an empty one, or one whose tasks are not waited for
/// (its worker is lost, the day's money is spent).
struct TerminateIssued {
  InstanceId instance;

  friend bool operator==(const TerminateIssued&, const TerminateIssued&) = default;
};

/// The instance is gone: billing has ended. Tasks that were still on it wait again.
struct InstanceGone {
  InstanceId instance;
  std::optional<Instant> billed_until{};  ///< by the cloud's word; the event's time when not said
  CloudReason reason = CloudReason::ended;

  friend bool operator==(const InstanceGone&, const InstanceGone&) = default;
};

/// A task got a (new) place to be at. When it runs elsewhere it has to stop there first.
struct TaskAssigned {
  TaskId task;
  InstanceId to;
  Cause cause;
  /// Resources that it may use there. Nothing, in records of earlier versions: its demand there.
  std::optional<Grant> grant{};

  friend bool operator==(const TaskAssigned&, const TaskAssigned&) = default;
};

/// A task lost its place; it waits again, once it has left where it runs.
struct TaskUnassigned {
  TaskId task;
  Cause cause;

  friend bool operator==(const TaskUnassigned&, const TaskUnassigned&) = default;
};

/// The worker was told to start the task; it holds its resources from now on.
struct StartIssued {
  TaskId task;
  InstanceId instance;
  Attempt attempt = 0;
  std::optional<Grant> grant{};  ///< as of TaskAssigned

  friend bool operator==(const StartIssued&, const StartIssued&) = default;
};

/// The task is loaded and executes. `fetch` and `build` are what the worker measured.
struct TaskStarted {
  TaskId task;
  Attempt attempt = 0;
  Duration fetch{};
  Duration build{};

  friend bool operator==(const TaskStarted&, const TaskStarted&) = default;
};

/// The worker was told to stop the task with a checkpoint.
struct StopIssued {
  TaskId task;
  Attempt attempt = 0;

  friend bool operator==(const StopIssued&, const StopIssued&) = default;
};

/// End of an attempt's process; all members are empty where there was no process.
struct ProcessEnd {
  std::int32_t exit_code = 0;  ///< 128+n: signal n
  std::string out_tail;        ///< the last of what it wrote
  std::string err_tail;
  Duration cpu{};                ///< processor time; 0: not measured
  std::uint64_t peak_bytes = 0;  ///< the most memory at one time; 0: not measured

  Usage used() const { return {cpu, peak_bytes}; }

  friend bool operator==(const ProcessEnd&, const ProcessEnd&) = default;
};

/// How a program ends that was asked to stop and has saved a checkpoint.
inline constexpr std::int32_t kCheckpointedExit = 85;

/// The stopped task has saved its checkpoint and holds no resources any more.
struct TaskCheckpointed {
  TaskId task;
  Attempt attempt = 0;
  Duration upload{};
  ProcessEnd end{};

  friend bool operator==(const TaskCheckpointed&, const TaskCheckpointed&) = default;
};

/// The task has done all its work; it holds no resources any more.
struct TaskFinished {
  TaskId task;
  Attempt attempt = 0;
  ProcessEnd end{};

  friend bool operator==(const TaskFinished&, const TaskFinished&) = default;
};

/// Why an attempt ended without finishing the work.
enum class FailureKind : std::uint8_t {
  unknown,        ///< it was not said
  exit_code,      ///< its process said so by another code than 0
  signal,         ///< its process was killed, and not by Muster
  out_of_memory,  ///< it used more than it was granted
  time_limit,     ///< it ran longer than its job allows
  cannot_start,   ///< there is no such program or folder, or it may not be used: nor will it later
  lost,           ///< its worker or instance is gone or failed
  rejected,       ///< its worker had no room for it
  disk_full,      ///< it took the most of a disk that ran full
  files           ///< those that it was to leave are missing, or those it begins with took too long
};
constexpr auto words_of(FailureKind) {
  using E = FailureKind;
  return std::to_array<EnumWord<E>>({{E::unknown, "unknown"},
                                     {E::exit_code, "exit code"},
                                     {E::signal, "signal"},
                                     {E::out_of_memory, "out of memory"},
                                     {E::time_limit, "time limit"},
                                     {E::cannot_start, "cannot start"},
                                     {E::lost, "lost"},
                                     {E::rejected, "rejected"},
                                     {E::disk_full, "disk full"},
                                     {E::files, "files"}});
}

/// The attempt ended without finishing the work; the task waits again, unless it is the last one.
struct TaskFailed {
  TaskId task;
  Attempt attempt = 0;
  std::string reason;
  ProcessEnd end{};
  bool blameless = false;  ///< its worker had no room for it or lost it: no failure of the program
  FailureKind kind = FailureKind::unknown;
  bool for_good = false;  ///< the task is not tried again
  /// Of a service's replica, when it waits for a place again; nothing: at once.
  std::optional<Instant> retry_at{};

  friend bool operator==(const TaskFailed&, const TaskFailed&) = default;
};

/// How a job ended.
enum class JobOutcome : std::uint8_t {
  completed,
  failed,     ///< a task failed for good
  refused,    ///< a task can never be placed
  cancelled,  ///< its user did not want it any more
  replaced,   ///< a later revision of the service has its place
  skipped,    ///< a job that it waited for did not end as it should have
  expired     ///< it was not over at its deadline
};
constexpr auto words_of(JobOutcome) {
  using E = JobOutcome;
  return std::to_array<EnumWord<E>>({{E::completed, "completed"},
                                     {E::failed, "failed"},
                                     {E::refused, "refused"},
                                     {E::cancelled, "cancelled"},
                                     {E::replaced, "replaced"},
                                     {E::skipped, "skipped"},
                                     {E::expired, "expired"}});
}

/// A held task waits as the others do: one more of its job's tasks may have a place.
struct TaskReleased {
  TaskId task;

  friend bool operator==(const TaskReleased&, const TaskReleased&) = default;
};

/// The counterpart that a task waits for (AfterJob::by_index) is over.
struct CounterpartOver {
  TaskId task;
  /// Why the task cannot begin any more: it has failed for good, without an attempt. Empty: it
  /// waits as the others do, as soon as its job may have one more at once.
  std::string lost{};

  friend bool operator==(const CounterpartOver&, const CounterpartOver&) = default;
};

/// A user wants the job's tasks that have no place to get none: they are held.
struct JobHeld {
  JobId job;

  friend bool operator==(const JobHeld&, const JobHeld&) = default;
};
/// The user wants them to have places again; as many as the job allows at once wait.
struct JobReleased {
  JobId job;

  friend bool operator==(const JobReleased&, const JobReleased&) = default;
};

/// An elastic job has another width from now on. The tasks that are not of it any more have no
/// place, once they have left where they run; those that are new wait.
struct JobResized {
  JobId job;
  std::uint32_t width = 1;
  Cause cause;

  friend bool operator==(const JobResized&, const JobResized&) = default;
};

/// The job will not be completed: it is over as soon as none of its tasks runs any more.
struct JobTerminating {
  JobId job;
  JobOutcome outcome = JobOutcome::failed;

  friend bool operator==(const JobTerminating&, const JobTerminating&) = default;
};

/// A gang that has waited long for room gets its turn: until then no other job starts a task,
/// unless the gang has started before.
struct GangTurn {
  JobId job;
  Instant until;

  friend bool operator==(const GangTurn&, const GangTurn&) = default;
};

/// An instance that has to empty, so that there is room for a job that goes before others.
struct ClosedInstance {
  InstanceId instance;
  std::optional<Instant> until{};  ///< expected end; nothing: it was not said

  friend bool operator==(const ClosedInstance&, const ClosedInstance&) = default;
};

/// A job that waits for room which something bounds is the first in the order of the queue, and has
/// waited for long or goes before others by its priority: room is kept for it from now on. With
/// neither instances to be rented nor any that are closed: nothing could hold it, and it rests.
struct RoomClaimed {
  JobId job;
  TaskId task;                           ///< of it, for which
  Refusal short_of;                      ///< why it waits
  std::uint32_t instances = 0;           ///< that the caps are to leave it
  Price price;                           ///< price of an hour of all of these
  std::vector<ClosedInstance> closed{};  ///< by rising ids; those of an earlier one are among them

  friend bool operator==(const RoomClaimed&, const RoomClaimed&) = default;
};

/// An offering is not as it was. Instances of it cost the new price from the change's instant on,
/// which is of the cloud's clock. A change whose number is known already changes nothing.
struct OfferingChanged {
  OfferingChange change;

  friend bool operator==(const OfferingChanged&, const OfferingChanged&) = default;
};

/// The job is over and leaves the state.
struct JobFinished {
  JobId job;
  JobOutcome outcome = JobOutcome::completed;
  double mean_throughput = 1;  ///< mean of the normalised throughputs observed
  std::uint64_t throughput_samples = 0;

  friend bool operator==(const JobFinished&, const JobFinished&) = default;
};

/// Iterations per second of a running task, relative to running alone.
struct ThroughputSample {
  TaskId task;
  double normalized = 1;

  friend bool operator==(const ThroughputSample&, const ThroughputSample&) = default;
};

/// How far an elastic job's program says that it has come.
struct JobProgress {
  TaskId task;      ///< the one that said so
  double done = 0;  ///< of all the job's work, in the job's unit
  std::optional<TrainingSample> training{};

  friend bool operator==(const JobProgress&, const JobProgress&) = default;
};

/// A replica of a service is not as it was.
struct ReplicaChanged {
  TaskId task;
  Attempt attempt = 0;
  ReplicaState state;

  friend bool operator==(const ReplicaChanged&, const ReplicaChanged&) = default;
};

/// A task of a service is to be one of its replicas from now on, or not any more. One that runs
/// goes on until it may leave, without a place: see docs/services.md.
struct ReplicaWanted {
  TaskId task;
  bool wanted = true;
  Cause cause;

  friend bool operator==(const ReplicaWanted&, const ReplicaWanted&) = default;
};

/// The service is to have that number of replicas; 0: it is a revision that is given up, and the
/// one before has the service again.
struct ServiceScaled {
  JobId job;
  std::uint32_t replicas = 1;
  /// The mean of what its replicas measured for its goal, which asks for that number; nothing: the
  /// goal does not, but its user.
  std::optional<double> measured{};

  friend bool operator==(const ServiceScaled&, const ServiceScaled&) = default;
};

/// All replicas of the service's revision have been healthy at once: it is good.
struct ServiceSettled {
  JobId job;

  friend bool operator==(const ServiceSettled&, const ServiceSettled&) = default;
};

/// Measurements of the workers' tasks: all that the policy is shown of them. Just before a round,
/// or for regular rounds that were not held, when what ends the quiet is about to happen. Ordered
/// by task, each task once. Without throughputs: an elastic job has entered another epoch, or tasks
/// have reported numbers of their own.
struct Measured {
  std::vector<ThroughputSample> samples;
  std::uint64_t quiet = 0;  ///< rounds not held, for which they stand; 0: the next round's
  std::vector<JobProgress> progress{};
  std::vector<TaskMetrics> metrics{};  ///< of each of these tasks, all that it has reported

  /// Tasks have reported numbers of their own, and nothing else was measured.
  bool is_metrics_alone() const { return samples.empty() && progress.empty() && !metrics.empty(); }
  std::uint64_t rounds() const { return quiet > 0 ? quiet : 1; }

  friend bool operator==(const Measured&, const Measured&) = default;
};

using EventBody =
    std::variant<JobAccepted, TaskRefused, RoundDecided, PlanPartRefused, LaunchRequested,
                 LaunchRefused, InstanceUp, InstanceReady, ReleaseDecided, TerminateIssued,
                 InstanceGone, TaskAssigned, TaskUnassigned, StartIssued, TaskStarted, StopIssued,
                 TaskCheckpointed, TaskFinished, TaskFailed, JobFinished, TaskReleased, JobHeld,
                 JobReleased, JobTerminating, Measured, GangTurn, OfferingChanged, JobResized,
                 RoomClaimed, ReplicaChanged, ReplicaWanted, ServiceScaled, ServiceSettled,
                 CounterpartOver, OwnCheckpoints>;

/// Something that became true for a master, and when.
struct Event {
  Instant at;
  EventBody body;
  std::uint32_t cell = 0;  ///< index of the master that it is of, where several share a log

  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace muster
