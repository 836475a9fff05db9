#include <fmt/format.h>

#include <array>

#include "config/csv.hpp"
#include "tools/replay/workload/formats.hpp"

namespace muster::replay {
namespace {

constexpr std::string_view kCreated = "task_create_time";
constexpr std::string_view kEnded = "task_end_time";
constexpr std::string_view kInstances = "number_of_instances";
constexpr std::string_view kCpu = "number_of_cpus_requested_per_instance_in_the_task";
constexpr std::string_view kMemory = "normalized_memory_requested_per_instance_in_the_task";
constexpr std::array<CsvColumn, 8> kAlibabaColumns = {{{kCreated, true},
                                                       {kEnded, true},
                                                       {"job_id", true},
                                                       {"task_id", true},
                                                       {kInstances, true},
                                                       {"status", true},
                                                       {kCpu, true},
                                                       {kMemory, true}}};
/// The trace's clock may start before 0: tasks may be older than it.
constexpr NumberRange kMoment{.low = -to_seconds(kLongest), .high = to_seconds(kLongest)};
constexpr NumberRange kShare{.low = 0, .high = 1};
// The trace counts CPUs in hundredths of a core.
constexpr double kPartsOfCore = 100;

/// The task of a row as a job: its instances are the job's tasks. Nothing for one that did not run
/// to its end in measurable time.
std::optional<JobDraft> read_task(CsvReader& row, const WorkloadConfig& config) {
  if (row.text("status") != "Terminated") return std::nullopt;
  const double created_s = row.number(kCreated, kMoment);
  const double ended_s = row.number(kEnded, kMoment);
  if (ended_s <= created_s) return std::nullopt;
  JobDraft draft;
  WorkloadJob& to = draft.job;
  to.submit = Instant{from_seconds(created_s)};
  to.truth.iterations = ended_s - created_s;
  draft.tasks = static_cast<std::size_t>(row.number(kInstances, kTasks));
  to.job.name = fmt::format("{}/{}", row.needed_text("job_id"), row.needed_text("task_id"));
  to.job.gang = false;
  to.job.runtime_hint = from_seconds(to.truth.iterations);
  // The trace says nothing of what runs: all jobs count as alike.
  to.job.workload_class = to.truth.interference = kUnknownClass;
  Resources demand = default_demand(config.task);
  demand[Resource::cpu] = row.number(kCpu, kAmount) / kPartsOfCore;
  demand[Resource::memory] = row.number(kMemory, kShare) * config.machine_memory_gib;
  to.job.tasks.emplace_back().demands = Demands(demand);
  return draft;
}

/// The table batch_task of Alibaba's cluster-trace-v2017.
RawJobsResult read_alibaba_2017(const WorkloadConfig& config) {
  auto table = read_csv(config.path);
  if (!table) return as_workload_error(table.error());
  ErrorList errors;
  CsvReader row(table.value(), kAlibabaColumns, errors);
  RawJobs raw_jobs;
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    if (!row.select(table->rows[i])) continue;
    auto draft = read_task(row, config);
    if (!draft) continue;
    // The row's number, also when rows before it are left out: ids stay when the filter changes.
    draft->job.job.id = JobId{i};
    raw_jobs.add(std::move(*draft));
  }
  if (!errors.empty()) return invalid(errors);
  start_at_first(raw_jobs.jobs);
  raw_jobs.description =
      fmt::format("terminated tasks of {}, memory as parts of {} GiB",
                  config.path.filename().string(), number_text(config.machine_memory_gib));
  return raw_jobs;
}

}  // namespace

WorkloadFormat alibaba_2017_format() {
  return trace("alibaba-2017", read_alibaba_2017);
}

}  // namespace muster::replay
