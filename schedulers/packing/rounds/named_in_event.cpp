#include "schedulers/packing/rounds/named_in_event.hpp"

namespace muster {
namespace {

struct NamedTasks {
  const ClusterState& state;
  std::vector<Slot>& slots;

  void add(TaskId id) {
    if (const TaskRow* row = state.find(id)) slots.push_back(row->slot);
  }
  void add(JobId id) {
    if (const JobRow* row = state.find(id)) slots = row->tasks;
  }
  void operator()(const JobAccepted& e) { add(e.job.id); }
  void operator()(const JobHeld& e) { add(e.job); }
  void operator()(const JobReleased& e) { add(e.job); }
  void operator()(const JobResized& e) { add(e.job); }
  void operator()(const JobTerminating& e) { add(e.job); }
  void operator()(const TaskAssigned& e) { add(e.task); }
  void operator()(const TaskUnassigned& e) { add(e.task); }
  void operator()(const TaskCheckpointed& e) { add(e.task); }
  void operator()(const TaskFinished& e) { add(e.task); }
  void operator()(const TaskFailed& e) { add(e.task); }
  void operator()(const TaskReleased& e) { add(e.task); }
  void operator()(const CounterpartOver& e) { add(e.task); }
  void operator()(const ReplicaWanted& e) { add(e.task); }
  template <class Other>
  void operator()(const Other&) {}
};

struct NamedInstance {
  InstanceId operator()(const LaunchRequested& e) const { return e.instance; }
  InstanceId operator()(const LaunchRefused& e) const { return e.instance; }
  InstanceId operator()(const InstanceReady& e) const { return e.instance; }
  InstanceId operator()(const ReleaseDecided& e) const { return e.instance; }
  InstanceId operator()(const TerminateIssued& e) const { return e.instance; }
  InstanceId operator()(const InstanceGone& e) const { return e.instance; }
  template <class Other>
  InstanceId operator()(const Other&) const {
    return {};
  }
};

}  // namespace

std::vector<Slot> tasks_named_in(const Event& event, const ClusterState& state) {
  std::vector<Slot> slots;
  std::visit(NamedTasks{state, slots}, event.body);
  return slots;
}

InstanceId instance_named_in(const Event& event) {
  return std::visit(NamedInstance{}, event.body);
}

}  // namespace muster
