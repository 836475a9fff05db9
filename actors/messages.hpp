#pragma once

#include <caf/all.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "actors/inspect.hpp"
#include "model/event.hpp"

// Everything that actors say to each other. docs/add-a-message.md lists what to touch for a new
// one.

namespace muster {

/// Asks a worker to run one attempt of a task.
struct StartOrder {
  JobId job;
  TaskSpec task;
  Attempt attempt = 0;
  Resources granted;  ///< what the attempt may use on this instance
};

/// What can become of an attempt.
enum class WorkerReportKind : std::uint8_t { started, left, finished, failed };

/// What became of an attempt, as its worker saw it. Durations belong to the kinds they are named
/// for.
struct WorkerReport {
  InstanceId instance;
  TaskId task;
  Attempt attempt = 0;
  WorkerReportKind kind = WorkerReportKind::started;
  Duration fetch{};    ///< started
  Duration build{};    ///< started
  Duration upload{};   ///< left
  std::string reason;  ///< failed
};

/// Normalised throughput of one attempt at the moment of asking, in parts per 2^32 so that it is
/// exact on the wire and the same on every machine.
struct TaskThroughput {
  TaskId task;
  Attempt attempt = 0;
  std::uint64_t scaled = 0;

  static constexpr double kOne = 4294967296.0;
};

/// What a worker answers when it is asked for the throughput of what it runs.
struct SampleAnswer {
  InstanceId instance;
  std::uint64_t asking = 0;  ///< number of the asking that it answers
  std::vector<TaskThroughput> samples;
};

/// Asks a cloud for an instance. The id is the order's token: repeating an order changes nothing.
struct LaunchOrder {
  InstanceId instance;
  TypeId type;
  std::uint8_t market = 0;
};

/// What can become of an instance that was ordered.
enum class CloudReportKind : std::uint8_t { up, refused, gone };

/// What became of an order, as the cloud saw it.
struct CloudReport {
  InstanceId instance;
  CloudReportKind kind = CloudReportKind::up;
};

/// How loaded a master is, for those who choose among masters.
struct LoadReport {
  std::uint64_t active_jobs = 0;
  std::uint64_t pending_tasks = 0;
  std::uint64_t instances = 0;
};

/// A step that an actor asked to be woken for. It never leaves the process.
struct Wakeup {
  std::function<void()> run;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, StartOrder& x) {
  return f(caf::meta::type_name("start_order"), x.job, x.task, x.attempt, x.granted);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, WorkerReport& x) {
  return f(caf::meta::type_name("worker_report"), x.instance, x.task, x.attempt, x.kind, x.fetch,
           x.build, x.upload, x.reason);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, TaskThroughput& x) {
  return f(caf::meta::type_name("task_throughput"), x.task, x.attempt, x.scaled);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, SampleAnswer& x) {
  return f(caf::meta::type_name("sample_answer"), x.instance, x.asking, x.samples);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, LaunchOrder& x) {
  return f(caf::meta::type_name("launch_order"), x.instance, x.type, x.market);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CloudReport& x) {
  return f(caf::meta::type_name("cloud_report"), x.instance, x.kind);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, LoadReport& x) {
  return f(caf::meta::type_name("load_report"), x.active_jobs, x.pending_tasks, x.instances);
}

/// What may go wrong between actors, for those who react to it.
enum class ActorError : std::uint8_t { duplicate_job = 1, invalid_job };
std::string to_string(ActorError code);

}  // namespace muster

CAF_BEGIN_TYPE_ID_BLOCK(muster, caf::first_custom_type_id)
CAF_ADD_TYPE_ID(muster, (muster::JobId))
CAF_ADD_TYPE_ID(muster, (muster::TaskId))
CAF_ADD_TYPE_ID(muster, (muster::InstanceId))
CAF_ADD_TYPE_ID(muster, (muster::Job))
CAF_ADD_TYPE_ID(muster, (muster::StartOrder))
CAF_ADD_TYPE_ID(muster, (muster::WorkerReport))
CAF_ADD_TYPE_ID(muster, (muster::TaskThroughput))
CAF_ADD_TYPE_ID(muster, (muster::SampleAnswer))
CAF_ADD_TYPE_ID(muster, (muster::LaunchOrder))
CAF_ADD_TYPE_ID(muster, (muster::CloudReport))
CAF_ADD_TYPE_ID(muster, (muster::LoadReport))
CAF_ADD_TYPE_ID(muster, (muster::Wakeup))
CAF_ADD_TYPE_ID(muster, (muster::JobOutcome))
CAF_ADD_TYPE_ID(muster, (muster::ActorError))
CAF_ADD_ATOM(muster, muster, accept_atom, "accept")
CAF_ADD_ATOM(muster, muster, cancel_atom, "cancel")
CAF_ADD_ATOM(muster, muster, over_atom, "over")
CAF_ADD_ATOM(muster, muster, hello_atom, "hello")
CAF_ADD_ATOM(muster, muster, start_atom, "start")
CAF_ADD_ATOM(muster, muster, stop_atom, "stop")
CAF_ADD_ATOM(muster, muster, sample_atom, "sample")
CAF_ADD_ATOM(muster, muster, launch_atom, "launch")
CAF_ADD_ATOM(muster, muster, end_atom, "end")
CAF_ADD_ATOM(muster, muster, load_atom, "load")
CAF_END_TYPE_ID_BLOCK(muster)

CAF_ERROR_CODE_ENUM(muster::ActorError, "muster")
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(muster::Wakeup)

namespace muster {

/// Runs the attempts of one instance's tasks. Repeated and outdated orders change nothing.
using WorkerActor =
    caf::typed_actor<caf::reacts_to<start_atom, StartOrder>,
                     caf::reacts_to<stop_atom, TaskId, Attempt>,
                     caf::reacts_to<sample_atom, std::uint64_t>, caf::reacts_to<Wakeup>>;

/// Told when a job it handed on is over.
using JobListener = caf::typed_actor<caf::reacts_to<over_atom, JobId, JobOutcome>>;

/// Owns a cell: its jobs, its instances, and what is decided about them.
using MasterActor = caf::typed_actor<
    caf::replies_to<accept_atom, Job, JobListener>::with<JobId>, caf::reacts_to<cancel_atom, JobId>,
    caf::reacts_to<hello_atom, InstanceId, WorkerActor>, caf::reacts_to<WorkerReport>,
    caf::reacts_to<SampleAnswer>, caf::reacts_to<CloudReport>,
    caf::replies_to<load_atom>::with<LoadReport>, caf::reacts_to<Wakeup>>;

/// Rents instances. The answer to a launch comes as reports to the master that asked.
using CloudActor = caf::typed_actor<caf::reacts_to<launch_atom, LaunchOrder, MasterActor>,
                                    caf::reacts_to<end_atom, InstanceId>, caf::reacts_to<Wakeup>>;

/// Takes jobs in at one place of the world and hands them to masters.
using SiteActor = caf::typed_actor<caf::replies_to<accept_atom, Job, JobListener>::with<JobId>,
                                   caf::reacts_to<cancel_atom, JobId>,
                                   caf::reacts_to<over_atom, JobId, JobOutcome>>;

}  // namespace muster

CAF_BEGIN_TYPE_ID_BLOCK(muster_handles, caf::id_block::muster::end)
CAF_ADD_TYPE_ID(muster_handles, (muster::WorkerActor))
CAF_ADD_TYPE_ID(muster_handles, (muster::JobListener))
CAF_ADD_TYPE_ID(muster_handles, (muster::MasterActor))
CAF_END_TYPE_ID_BLOCK(muster_handles)

namespace muster {

/// Makes the messages known to an actor system that is about to start.
void add_messages(caf::actor_system_config& config);

}  // namespace muster
