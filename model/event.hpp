#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "model/job.hpp"
#include "model/money.hpp"
#include "model/plan.hpp"

// Everything that can happen to a master's state. An event says what became true and when; applying
// the events of a log in order to an empty state gives the state again.

namespace muster {

/// The master took responsibility for a job. All its tasks wait.
struct JobAccepted {
  Job job;
};

/// A waiting task's current reason changed.
struct TaskRefused {
  TaskId task;
  Refusal refusal;
};

/// A policy round took place.
struct RoundDecided {
  std::uint64_t round = 0;
  RoundNote note;
};

/// A part of a plan was not carried out.
struct PlanPartRefused {
  TaskId task;          ///< invalid when an instance is meant
  InstanceId instance;  ///< invalid when a task is meant
  Refusal refusal;
};

/// An instance was asked for.
struct LaunchRequested {
  InstanceId instance;
  TypeId type;
  Market market = Market::on_demand;
  Price price;
  Cause cause;
};

/// The cloud said no. The instance never was; tasks meant for it wait again.
struct LaunchRefused {
  InstanceId instance;
  Refusal refusal;
};

/// The instance is up: billing has begun.
struct InstanceUp {
  InstanceId instance;
};

/// The instance's worker has said hello: tasks may start.
struct InstanceReady {
  InstanceId instance;
};

/// The instance is no longer wanted: no task may be placed on it any more.
struct ReleaseDecided {
  InstanceId instance;
  Cause cause;
};

/// The cloud was asked to end the instance.
struct TerminateIssued {
  InstanceId instance;
};

/// The instance is gone: billing has ended. Tasks that were still on it wait again.
struct InstanceGone {
  InstanceId instance;
};

/// A task got a (new) place to be at. When it runs elsewhere it has to stop there first.
struct TaskAssigned {
  TaskId task;
  InstanceId to;
  Cause cause;
};

/// A task lost its place; it waits again, once it has left where it runs.
struct TaskUnassigned {
  TaskId task;
  Cause cause;
};

/// The worker was told to start the task; it holds its resources from now on.
struct StartIssued {
  TaskId task;
  InstanceId instance;
  Attempt attempt = 0;
};

/// The task is loaded and executes. `fetch` and `build` are what the worker measured.
struct TaskStarted {
  TaskId task;
  Attempt attempt = 0;
  Duration fetch{};
  Duration build{};
};

/// The worker was told to stop the task with a checkpoint.
struct StopIssued {
  TaskId task;
  Attempt attempt = 0;
};

/// The stopped task has saved its checkpoint and holds no resources any more.
struct TaskLeft {
  TaskId task;
  Attempt attempt = 0;
  Duration upload{};
};

/// The task has done all its work; it holds no resources any more.
struct TaskFinished {
  TaskId task;
  Attempt attempt = 0;
};

/// The attempt ended without finishing the work; the task waits again.
struct TaskFailed {
  TaskId task;
  Attempt attempt = 0;
  std::string reason;
};

/// How a job ended.
enum class JobOutcome : std::uint8_t {
  completed,
  failed,    ///< a task failed too often
  refused,   ///< a task can never be placed
  cancelled  ///< its user did not want it any more
};
std::string_view name_of(JobOutcome outcome);

/// The job is over and leaves the state.
struct JobFinished {
  JobId job;
  JobOutcome outcome = JobOutcome::completed;
  double mean_throughput = 1;  ///< mean of the normalised throughputs observed
  std::uint64_t throughput_samples = 0;
};

using EventBody =
    std::variant<JobAccepted, TaskRefused, RoundDecided, PlanPartRefused, LaunchRequested,
                 LaunchRefused, InstanceUp, InstanceReady, ReleaseDecided, TerminateIssued,
                 InstanceGone, TaskAssigned, TaskUnassigned, StartIssued, TaskStarted, StopIssued,
                 TaskLeft, TaskFinished, TaskFailed, JobFinished>;

/// Something that became true for a master, and when.
struct Event {
  Instant at;
  EventBody body;
};

}  // namespace muster
