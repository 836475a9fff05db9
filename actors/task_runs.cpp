#include "actors/task_runs.hpp"

#include <utility>

namespace muster {
namespace {

/// Whether `next` may follow `last`, the last task of the run so far; the second task of a run says
/// by how much the numbers of its tasks rise.
bool goes_on(const TaskRun& run, const TaskSpec& last, const TaskSpec& next) {
  const TaskSpec& first = run.first;
  // Before a site has numbered the job its tasks have no numbers.
  if (last.id.valid() != next.id.valid()) return false;
  if (last.id.valid()) {
    const std::uint64_t step = next.id.value - last.id.value;
    const bool rises = next.id.value > last.id.value && step <= kMostTasksInMessage;
    if (run.count == 1 ? !rises : step != run.id_step) return false;
  }
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
    if (runs.empty() || !goes_on(runs.back(), tasks[i - 1], tasks[i])) {
      if (!runs.empty()) shorten(runs.back());
      runs.push_back({tasks[i]});
      continue;
    }
    if (runs.back().count++ == 1 && tasks[i].id.valid()) {
      runs.back().id_step = static_cast<std::uint32_t>(tasks[i].id.value - tasks[i - 1].id.value);
    }
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
      if (task.id.valid()) task.id.value += run.id_step;
      task.array_index += run.steps.size() == 1 ? run.steps.front() : run.steps[i - 1];
      tasks.push_back(task);
    }
  }
  return true;
}

}  // namespace muster
