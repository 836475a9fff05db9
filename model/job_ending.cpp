#include "model/job_ending.hpp"

#include <algorithm>

#include "model/live_ids.hpp"

namespace muster {
namespace {

/// A run of two is as long as two ranges.
constexpr std::size_t kShortestRun = 3;

std::size_t ranges_in(const IndexRun& run) {
  return run.step == 1 ? 1 : (run.last - run.first) / run.step + std::size_t{1};
}

}  // namespace

std::vector<IndexRun> runs_of(const std::vector<std::uint32_t>& indices) {
  std::vector<IndexRun> runs;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t next = i + 1;
    const std::uint32_t step = next < indices.size() ? indices[next] - indices[i] : 1;
    while (next < indices.size() && indices[next] - indices[next - 1] == step) ++next;
    // The next one may begin a run of neighbours.
    const bool is_run = step == 1 || next - i >= kShortestRun;
    if (!is_run) next = i + 1;
    runs.push_back({indices[i], indices[next - 1], is_run ? step : 1});
    i = next;
  }
  return runs;
}

std::size_t count_ranges(const std::vector<IndexRun>& runs) {
  std::size_t count = 0;
  for (const IndexRun& run : runs) count += ranges_in(run);
  return count;
}

std::vector<IndexRange> ranges_of(const std::vector<IndexRun>& runs, std::size_t from,
                                  std::size_t most) {
  std::vector<IndexRange> ranges;
  for (const IndexRun& run : runs) {
    const std::size_t count = ranges_in(run);
    for (std::size_t i = std::min(from, count); i < count && ranges.size() < most; ++i) {
      const std::uint32_t index = run.first + static_cast<std::uint32_t>(i) * run.step;
      ranges.push_back({index, run.step == 1 ? run.last : index});
    }
    from -= std::min(from, count);
    if (ranges.size() == most) break;
  }
  return ranges;
}

JobEnding ending_of(const JobHistory& job) {
  JobEnding ending;
  ending.job = job.job.id;
  ending.user = job.job.user;
  ending.outcome = job.outcome;
  ending.over_at = job.over_at;
  ending.first = job.job.tasks.empty() ? 0 : position_of(job.job.tasks.front().id);
  ending.tasks = static_cast<std::uint32_t>(job.job.tasks.size());
  ending.whole = job.job.task_count();
  ending.broken = std::any_of(job.tasks.begin(), job.tasks.end(), [](const TaskHistory& task) {
    return !task.finished && !task.failed;
  });
  std::vector<std::uint32_t> completed, failed;
  for (std::size_t i = 0; i < std::min(job.tasks.size(), job.job.tasks.size()); ++i) {
    const std::uint32_t index = job.job.tasks[i].array_index;
    if (job.tasks[i].finished) {
      completed.push_back(index);
    } else if (job.tasks[i].failed) {
      failed.push_back(index);
    }
  }
  for (auto* indices : {&completed, &failed}) {
    std::sort(indices->begin(), indices->end());
    // Tasks of a gang may all have index 0.
    indices->erase(std::unique(indices->begin(), indices->end()), indices->end());
  }
  ending.completed = runs_of(completed);
  ending.failed = runs_of(failed);
  return ending;
}

bool is_known_by_outcome(const JobHistory& job) {
  if (job.job.total_tasks > 0) return false;
  switch (job.outcome) {
    case JobOutcome::completed:
    case JobOutcome::replaced:
      return true;
    case JobOutcome::failed:
      return std::none_of(job.tasks.begin(), job.tasks.end(),
                          [](const TaskHistory& task) { return task.finished; });
    case JobOutcome::refused:
    case JobOutcome::expired:
    case JobOutcome::cancelled:
    case JobOutcome::skipped:
      break;
  }
  return false;
}

}  // namespace muster
