#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "config/csv.hpp"
#include "tools/replay/workload/formats.hpp"

namespace muster::replay {
namespace {

constexpr std::array<CsvColumn, 11> kOpenbColumns = {{{"name", true},
                                                      {"cpu_milli", true},
                                                      {"memory_mib", true},
                                                      {"num_gpu", true},
                                                      {"gpu_milli"},
                                                      {"gpu_spec"},
                                                      {"qos"},
                                                      {"pod_phase", true},
                                                      {"creation_time", true},
                                                      {"deletion_time", true},
                                                      {"scheduled_time"}}};

/// The pod as a job of one task, submitted at its creation. Demands are whole as in Eva's traces.
JobDraft read_pod(CsvReader& row, std::uint64_t number) {
  const double gpu = row.number("num_gpu", kCount);
  const double cpu = std::ceil(row.number("cpu_milli", kAmount) / 1000);
  const double memory_gib = std::ceil(row.number("memory_mib", kAmount) / 1024);
  const Duration created = row.seconds("creation_time", kLongest);
  const Duration deleted = row.seconds("deletion_time", kLongest);
  if (deleted < created) {
    row.complain("deletion_time",
                 fmt::format("has to be at least creation_time, which is {}; it is {}",
                             seconds_text(created), seconds_text(deleted)));
  }
  JobDraft draft;
  WorkloadJob& pod = draft.job;
  pod.submit = Instant{created};
  pod.truth.iterations = to_seconds(deleted - created);
  pod.job.id = JobId{number};
  pod.job.gang = true;
  pod.job.name = row.needed_text("name");
  // The list does not say what a pod runs; pods with equal demands count as alike.
  pod.job.workload_class =
      fmt::format("gpu{}-cpu{}-mem{}", number_text(gpu), number_text(cpu), number_text(memory_gib));
  pod.truth.interference = pod.job.workload_class;
  // The truth: the trace has no statement of its users, and policies that need one would have
  // none.
  pod.job.runtime_hint = deleted - created;
  TaskSpec& task = pod.job.tasks.emplace_back();
  task.demands = Demands(Resources::of(gpu, cpu, memory_gib));
  return draft;
}

/// Pod list of Alibaba's cluster-trace-gpu-v2023.
RawJobsResult read_openb_csv(const WorkloadConfig& config) {
  const std::filesystem::path& file = config.path;
  auto table = read_csv(file);
  if (!table) return as_workload_error(table.error());
  ErrorList errors;
  CsvReader reader(table.value(), kOpenbColumns, errors);
  RawJobs raw_jobs;
  std::map<std::string, std::uint32_t> lines;
  for (std::uint64_t i = 0; i < table->rows.size(); ++i) {
    const CsvRow& row = table->rows[i];
    if (!reader.select(row)) continue;
    const auto [first, is_new] = lines.emplace(reader.needed_text("name"), row.line);
    if (!is_new) {
      reader.complain("name", fmt::format("'{}' is already the name of the pod in line {}",
                                          first->first, first->second));
    }
    // After the check of the name: a list with equal names is wrong whatever became of the pods.
    if (reader.text("pod_phase") == "Failed") continue;
    raw_jobs.add(read_pod(reader, i));
  }
  if (!errors.empty()) return invalid(errors);
  start_at_first(raw_jobs.jobs);
  raw_jobs.description = fmt::format("pod list {}", file.filename().string());
  return raw_jobs;
}

}  // namespace

WorkloadFormat openb_csv_format() {
  return trace("openb-csv", read_openb_csv);
}

}  // namespace muster::replay
