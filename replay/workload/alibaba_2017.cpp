#include <fmt/format.h>

#include <array>

#include "config/csv.hpp"
#include "replay/workload/formats.hpp"

namespace muster::replay {
namespace {

constexpr std::string_view kCreated = "task_create_time";
constexpr std::string_view kEnded = "task_end_time";
constexpr std::string_view kInstances = "number_of_instances";
constexpr std::string_view kCpu = "number_of_cpus_requested_per_instance_in_the_task";
constexpr std::string_view kMemory = "normalized_memory_requested_per_instance_in_the_task";
/// In the order in which the published table, which has no header, has them.
constexpr std::array<CsvColumn, 8> kAlibabaColumns = {{{kCreated, true},
                                                       {kEnded, true},
                                                       {"job_id", true},
                                                       {"task_id", true},
                                                       {kInstances, true},
                                                       {"status", true},
                                                       {kCpu, true},
                                                       {kMemory, true}}};
/// The trace's clock may start before 0: tasks may be older than it.
constexpr MomentRange kMoment{.before_zero = true};
constexpr NumberRange kShare{.low = 0, .high = 1};
// The trace counts CPUs in hundredths of a core.
constexpr double kPartsOfCore = 100;

/// The task of a row as a job: its instances are the job's tasks. Nothing for one that did not run
/// to its end in measurable time.
std::optional<JobDraft> read_task(TraceReading& reading, CsvReader& row) {
  if (row.text("status") != "Terminated") {
    reading.leave_out("not terminated");
    return std::nullopt;
  }
  const Moment created = row.moment(kCreated, kMoment);
  const double created_s = to_seconds(created.at);
  const double ended_s = to_seconds(row.moment(kEnded, kMoment).at);
  if (ended_s <= created_s) {
    reading.leave_out("without a run time");
    return std::nullopt;
  }
  if (created.calendar) reading.dated();
  JobDraft draft;
  WorkloadJob& to = draft.job;
  to.submit = Instant{created.at};
  to.truth.iterations = ended_s - created_s;
  draft.tasks = static_cast<std::size_t>(row.number(kInstances, kTasks));
  to.job.name = fmt::format("{}/{}", row.needed_text("job_id"), row.needed_text("task_id"));
  to.job.gang = false;
  to.job.runtime_hint = from_seconds(to.truth.iterations);
  // The trace says nothing of what runs: all jobs count as alike.
  to.job.workload_class = to.truth.interference = kUnknownClass;
  const WorkloadConfig& config = reading.config();
  Resources demand = default_demand(config.task);
  demand[Resource::cpu] = row.number(kCpu, kAmount) / kPartsOfCore;
  demand[Resource::memory] = row.number(kMemory, kShare) * config.machine_memory_gib;
  to.job.tasks.emplace_back().demands = Demands(demand);
  return draft;
}

/// The table batch_task of Alibaba's cluster-trace-v2017.
TraceResult read_alibaba_2017(TraceReading& reading) {
  const WorkloadConfig& config = reading.config();
  std::array<std::string_view, kAlibabaColumns.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kAlibabaColumns[i].name;
  auto stream = CsvStream::open(config.path, names);
  if (!stream) return as_workload_error(stream.error());
  CsvReader row(stream.value(), kAlibabaColumns, reading.errors());
  for (std::uint64_t number = 0;; ++number) {
    const auto next = stream->next();
    if (!next) return as_workload_error(next.error());
    if (next.value() == nullptr) break;
    reading.begin_row(next.value()->line);
    std::optional<JobDraft> draft;
    if (row.select(*next.value())) draft = read_task(reading, row);
    // The row's number, also when rows before it are left out: ids stay when the filter changes.
    if (draft) draft->job.job.id = JobId{number};
    reading.end_row(std::move(draft));
  }
  return reading.finish(
      {fmt::format("terminated tasks of {}, memory as parts of {} GiB",
                   config.path.filename().string(), number_text(config.machine_memory_gib))});
}

}  // namespace

WorkloadFormat alibaba_2017_format() {
  return trace("alibaba-2017", read_alibaba_2017);
}

}  // namespace muster::replay
