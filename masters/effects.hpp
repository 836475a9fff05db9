#pragma once

#include <variant>
#include <vector>

#include "model/event.hpp"

namespace muster {

/// What a master wants done outside itself, in the order in which it has to happen. Effects leave
/// the master only after the events that led to them are durable.
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
};
struct EndInstance {
  InstanceId instance;
};
struct TellJobOver {
  JobId job;
  JobOutcome outcome = JobOutcome::completed;
};

using Effect = std::variant<StartTask, StopTask, LaunchInstance, EndInstance, TellJobOver>;

}  // namespace muster
