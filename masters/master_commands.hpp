#pragma once

#include "masters/instances/cloud_orders.hpp"
#include "masters/instances/instance_releases.hpp"
#include "masters/master_recorder.hpp"
#include "masters/tasks/task_orders.hpp"

namespace muster {

/// By what a decision is carried out. Everything in it is its master's, and outlives who has it.
struct MasterCommands {
  MasterRecorder& recorder;
  CloudOrders& cloud;
  InstanceReleases& releases;
  TaskOrders& tasks;
};

}  // namespace muster
