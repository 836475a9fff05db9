#include "masters/metric_tally.hpp"

#include <utility>

namespace muster {

void MetricTally::set(TaskId task, const std::string& user, std::size_t values) {
  const std::size_t before = values_of(task);
  if (values == before) return;
  std::size_t& of_user = users_[user];
  values_ = values_ + values - before;
  of_user = of_user + values - before;
  if (of_user == 0) users_.erase(user);
  if (values == 0) {
    tasks_.erase(task);
  } else {
    tasks_[task] = values;
  }
}

void MetricTally::recall(const ClusterState& state) {
  *this = {};
  for (const JobRow& job : state.jobs()) {
    for (const Slot slot : job.tasks) {
      const TaskRow& task = state.task(slot);
      set(task.id, job.job.user, task.metrics.size());
    }
  }
}

std::vector<TaskMetrics> MetricTally::fitting(std::vector<TaskMetrics> heard,
                                              const ClusterState& state, std::size_t most) const {
  std::size_t held = values_;
  std::map<std::string, std::size_t> by_user;  // with what was heard before
  std::vector<TaskMetrics> fits;
  for (TaskMetrics& each : heard) {
    const TaskRow* task = state.find(each.task);
    if (task == nullptr) continue;
    const std::string& user = state.job(task->job).job.user;
    const auto known = users_.find(user);
    const auto at = by_user.try_emplace(user, known == users_.end() ? 0 : known->second).first;
    const std::size_t before = values_of(each.task);
    // With n more the user holds n more, and n fewer are free.
    const std::size_t taken = held + at->second;
    const std::size_t more = most > taken ? (most - taken + 1) / 2 : 0;
    if (each.values.size() > before + more) each.values.resize(before + more);
    held += each.values.size() - before;
    at->second += each.values.size() - before;
    if (each.values != task->metrics) fits.push_back(std::move(each));
  }
  return fits;
}

std::size_t MetricTally::values_of(TaskId task) const {
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? 0 : found->second;
}

}  // namespace muster
