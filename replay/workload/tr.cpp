#include <fmt/format.h>

#include "replay/workload/blank_rows.hpp"
#include "replay/workload/formats.hpp"

namespace muster::replay {
namespace {

constexpr char kTrComment = '#';
/// Of a task.
constexpr NumberRange kTime{.low = 0, .high = to_seconds(kLongest)};
constexpr std::size_t kBeforeDurations = 3;

/// The job of a line. Schedulers are told the mean duration and nothing of the single ones.
JobDraft read_job(TraceReading& reading, BlankRows& row) {
  JobDraft draft;
  WorkloadJob& to = draft.job;
  const auto submit = row.moment(0, "submit_time");
  if (submit && submit->at < Duration::zero()) {
    row.complain("submit_time", fmt::format("has to be {}; it is {}", kWantedMoment, row.text(0)));
  }
  if (submit && submit->calendar) reading.dated();
  to.submit = Instant{submit ? submit->at : Duration::zero()};
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
TraceResult read_tr(TraceReading& reading) {
  const WorkloadConfig& config = reading.config();
  BlankRows row(config.path, kTrComment, reading.errors());
  const Demands demands(default_demand(config.task));
  for (std::uint64_t number = 0; row.next(); ++number) {
    reading.begin_row(row.line());
    JobDraft draft = read_job(reading, row);
    Job& job = draft.job.job;
    job.id = JobId{number};
    job.gang = false;
    // The trace says nothing of what runs: all jobs count as alike.
    job.workload_class = draft.job.truth.interference = kUnknownClass;
    job.tasks.emplace_back().demands = demands;
    reading.end_row(std::move(draft));
  }
  if (row.failure()) return as_workload_error(*row.failure());
  return reading.finish({fmt::format("trace {}", config.path.filename().string())});
}

}  // namespace

WorkloadFormat tr_format() {
  return trace("tr", read_tr);
}

}  // namespace muster::replay
