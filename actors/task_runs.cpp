#include "actors/task_runs.hpp"

#include <utility>

namespace muster {
namespace {

/// Whether `next` may follow `last`, of whose run `first` is the first task.
bool goes_on(const TaskSpec& first, const TaskSpec& last, const TaskSpec& next) {
  // Before a site has numbered the job its tasks have no numbers.
  const bool unnumbered = !last.id.valid() && !next.id.valid();
  if (!unnumbered && next.id.value != last.id.value + 1) return false;
  TaskSpec alike = next;
  alike.id = first.id;
  alike.array_index = first.array_index;
  return alike == first;
}

/// Leaves one step where all are equal.
void shorten(TaskRun& run) {
  for (const std::uint32_t step : run.steps) {
    if (step != run.steps.front()) return;
  }
  if (run.steps.size() > 1) run.steps.resize(1);
}

}  // namespace

std::vector<TaskRun> runs_of(const std::vector<TaskSpec>& tasks) {
  std::vector<TaskRun> runs;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (runs.empty() || !goes_on(runs.back().first, tasks[i - 1], tasks[i])) {
      if (!runs.empty()) shorten(runs.back());
      runs.push_back({tasks[i]});
      continue;
    }
    ++runs.back().count;
    runs.back().steps.push_back(tasks[i].array_index - tasks[i - 1].array_index);
  }
  if (!runs.empty()) shorten(runs.back());
  return runs;
}

bool put_tasks(std::vector<TaskSpec>& tasks, const std::vector<TaskRun>& runs) {
  std::uint64_t count = 0;
  for (const TaskRun& run : runs) {
    const std::size_t steps = run.steps.size();
    const bool fits = run.count == 1 ? steps == 0 : steps == 1 || steps + 1 == run.count;
    count += run.count;
    if (run.count == 0 || !fits || count > kMostTasksInMessage) return false;
  }
  tasks.clear();
  tasks.reserve(count);
  for (const TaskRun& run : runs) {
    TaskSpec task = run.first;
    tasks.push_back(task);
    for (std::uint32_t i = 1; i < run.count; ++i) {
      if (task.id.valid()) ++task.id.value;
      task.array_index += run.steps.size() == 1 ? run.steps.front() : run.steps[i - 1];
      tasks.push_back(task);
    }
  }
  return true;
}

}  // namespace muster
