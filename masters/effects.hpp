#pragma once

#include <string>
#include <variant>
#include <vector>

#include "model/event.hpp"
#include "model/history.hpp"

namespace muster {

/// Effects that a master wants outside itself, in the order in which they have to happen. Effects
/// leave the master only after the events that led to them are durable, unless they say otherwise.
struct StartTask {
  TaskId task;
  Attempt attempt = 0;
  InstanceId on;
};
struct StopTask {
  TaskId task;
  Attempt attempt = 0;
  InstanceId on;
};
struct LaunchInstance {
  InstanceId instance;
  TypeId type;
  Market market = Market::on_demand;
  std::string zone{};  ///< empty: the only one
  Price max_price{};   ///< highest price of an hour; zero: any price
};
struct EndInstance {
  InstanceId instance;
};
/// The outcome of the attempt is on record, whatever it was: the worker need not tell it again.
struct AcknowledgeAttempt {
  TaskId task;
  Attempt attempt = 0;
  InstanceId on;
};
/// The job, or the part of it that is here, is over.
struct TellJobOver {
  JobId job;
  JobOutcome outcome = JobOutcome::completed;
  TaskId first;             ///< of its tasks
  std::uint32_t tasks = 0;  ///< that are here
  std::uint32_t whole = 0;  ///< of the whole job
  bool broken = false;      ///< some of the tasks had no end of their own
};

using Effect =
    std::variant<StartTask, StopTask, LaunchInstance, EndInstance, AcknowledgeAttempt, TellJobOver>;

/// Work of a master since it was asked last: events that have to be durable, jobs for the history
/// that goes with them, and effects that may happen once they are.
struct Commit {
  std::vector<Event> events;
  std::vector<JobHistory> over;
  std::vector<Effect> effects;
  /// Not after the disk: a later end would cost more than the day's money. A master that crashes
  /// before the event is durable finds an instance that the cloud has taken back.
  std::vector<EndInstance> at_once{};
};

}  // namespace muster
