// The part of a cluster state that finds things in it.

#include "model/cluster_state.hpp"

namespace muster {
namespace {

template <class Map, class Rows, class Id>
auto find_row(const Map& slots, const Rows& rows, Id id) -> decltype(&rows[0]) {
  const auto found = slots.find(id);
  return found == slots.end() ? nullptr : &rows[found->second];
}

}  // namespace

const JobRow* ClusterState::find(JobId id) const {
  return find_row(job_slots_, jobs_, id);
}
const TaskRow* ClusterState::find(TaskId id) const {
  return find_row(task_slots_, tasks_, id);
}
const InstanceRow* ClusterState::find(InstanceId id) const {
  return find_row(instance_slots_, instances_, id);
}

}  // namespace muster
