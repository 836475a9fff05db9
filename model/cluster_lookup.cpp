// The part of a cluster state that finds things in it.

#include <algorithm>

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

void ClusterState::set_max_interruptions(std::uint32_t most) {
  max_interruptions_ = most;
  for (const JobRow& row : jobs()) {
    JobRow& job = jobs_[row.slot];
    job.confined = 0;
    for (Slot slot : job.tasks) job.confined += is_too_many(tasks_[slot].fruitless);
  }
}

bool ClusterState::is_confined(const TaskRow& task) const {
  const JobRow& job = jobs_[task.job];
  const bool together = job.job.gang || job.width > 0;
  return together ? job.confined > 0 : is_too_many(task.fruitless);
}

std::uint32_t ClusterState::fruitless(const TaskRow& task) const {
  // Of tasks that never run without each other one has lost at least this number. Which one is not
  // looked for: each of them asks.
  return is_confined(task) ? std::max(task.fruitless, max_interruptions_) : task.fruitless;
}

MarketChoice ClusterState::markets(const TaskRow& task) const {
  const MarketChoice own = jobs_[task.job].job.markets;
  return own == MarketChoice::any && is_confined(task) ? MarketChoice::on_demand : own;
}

MarketChoice ClusterState::markets(const JobRow& job) const {
  const bool confined = job.job.markets == MarketChoice::any && job.confined > 0;
  return confined ? MarketChoice::on_demand : job.job.markets;
}

}  // namespace muster
