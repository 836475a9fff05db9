#include <fmt/format.h>

#include "tools/replay/workload/blank_rows.hpp"
#include "tools/replay/workload/formats.hpp"

namespace muster::replay {
namespace {

constexpr char kTrComment = '#';
constexpr NumberRange kTime{.low = 0, .high = to_seconds(kLongest)};
constexpr std::size_t kBeforeDurations = 3;

/// The job of a line. Schedulers are told the mean duration and nothing of the single ones.
JobDraft read_job(BlankRows& row) {
  JobDraft draft;
  WorkloadJob& to = draft.job;
  to.submit = Instant{from_seconds(row.number(0, "submit_time", kTime))};
  draft.tasks = static_cast<std::size_t>(row.number(1, "num_tasks", kTasks));
  to.truth.iterations = row.number(2, "mean_task_duration", kTime);
  const std::size_t durations = row.size() - std::min(row.size(), kBeforeDurations);
  // A line that was cut off would otherwise be a job with fewer tasks.
  if (durations != draft.tasks) {
    row.complain("num_tasks", fmt::format("has to be the number of durations in the line, which is "
                                          "{}; it is {}",
                                          durations, draft.tasks));
    return draft;
  }
  to.truth.task_iterations.reserve(durations);
  for (std::size_t i = 0; i < durations; ++i) {
    const std::string_view name = "duration";
    to.truth.task_iterations.push_back(row.number(kBeforeDurations + i, name, kTime));
  }
  to.job.runtime_hint = from_seconds(to.truth.iterations);
  return draft;
}

/// Jobs of the Hawk, Eagle and Pigeon simulators, one a line: submission, number of tasks, mean
/// duration, the duration of each.
RawJobsResult read_tr(const WorkloadConfig& config) {
  const auto text = read_text_file(config.path);
  if (!text) return as_workload_error(text.error());
  ErrorList errors;
  BlankRows row(config.path.string(), text.value(), kTrComment, errors);
  const Demands demands(default_demand(config.task));
  RawJobs raw_jobs;
  while (row.next()) {
    JobDraft draft = read_job(row);
    Job& job = draft.job.job;
    job.id = JobId{raw_jobs.jobs.size()};
    job.gang = false;
    // The trace says nothing of what runs: all jobs count as alike.
    job.workload_class = draft.job.truth.interference = kUnknownClass;
    job.tasks.emplace_back().demands = demands;
    raw_jobs.add(std::move(draft));
  }
  if (!errors.empty()) return invalid(errors);
  start_at_first(raw_jobs.jobs);
  raw_jobs.description = fmt::format("trace {}", config.path.filename().string());
  return raw_jobs;
}

}  // namespace

WorkloadFormat tr_format() {
  return trace("tr", read_tr);
}

}  // namespace muster::replay
