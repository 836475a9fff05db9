#include "replay/workload/openb_csv.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "config/csv.hpp"

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

constexpr NumberRange kMilli{.low = 0, .high = 1e6};
constexpr double kWholeGpu = 1000;  ///< milli-GPUs

/// The pod's demand for GPUs. A pod of one GPU may share it with others.
double read_gpus(TraceReading& reading, CsvReader& row) {
  const double gpus = row.number("num_gpu", kCount);
  if (gpus != 1) return gpus;
  const double milli = row.number_or("gpu_milli", kMilli, kWholeGpu);
  if (milli <= 0 || milli >= kWholeGpu) return gpus;
  if (reading.config().own.of<OpenbSettings>().gpu_shares) return milli / kWholeGpu;
  reading.change("of a share of a GPU, counted as of a whole one");
  return gpus;
}

/// The pod as a job of one task, submitted at its creation; nothing when it has no end. Demands are
/// whole as in Eva's traces, but for shares of a GPU where they are wanted.
std::optional<JobDraft> read_pod(TraceReading& reading, CsvReader& row, std::uint64_t number) {
  const double gpu = read_gpus(reading, row);
  const double cpu = std::ceil(row.number("cpu_milli", kAmount) / 1000);
  const double memory_gib = std::ceil(row.number("memory_mib", kAmount) / 1024);
  const Moment creation = row.moment("creation_time");
  if (!row.has("deletion_time")) {
    reading.leave_out("without a deletion_time");
    return std::nullopt;
  }
  const Duration created = creation.at;
  const Duration deleted = row.moment("deletion_time").at;
  if (creation.calendar) reading.dated();
  if (deleted < created) {
    row.complain("deletion_time",
                 fmt::format("has to be at least creation_time, which is {}; it is {}",
                             row.text("creation_time"), row.text("deletion_time")));
  } else if (deleted - created > kLongest) {
    row.complain("deletion_time",
                 fmt::format("is more than {} s after creation_time", seconds_text(kLongest)));
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
  // nothing.
  pod.job.runtime_hint = deleted - created;
  TaskSpec& task = pod.job.tasks.emplace_back();
  task.demands = Demands(Resources::of(gpu, cpu, memory_gib));
  return draft;
}

/// Pod list of Alibaba's cluster-trace-gpu-v2023.
TraceResult read_openb_csv(TraceReading& reading) {
  const std::filesystem::path& file = reading.config().path;
  auto stream = CsvStream::open(file);
  if (!stream) return as_workload_error(stream.error());
  CsvReader row(stream.value(), kOpenbColumns, reading.errors());
  for (std::uint64_t number = 0;; ++number) {
    const auto next = stream->next();
    if (!next) return as_workload_error(next.error());
    if (next.value() == nullptr) break;
    reading.begin_row(next.value()->line);
    std::optional<JobDraft> draft;
    if (row.select(*next.value())) {
      const std::string& name = row.needed_text("name");
      if (!name.empty()) reading.id(name);
      // A list with equal names is wrong whatever became of the pods.
      if (row.text("pod_phase") == "Failed") {
        reading.leave_out("that failed");
      } else {
        draft = read_pod(reading, row, number);
      }
    }
    reading.end_row(std::move(draft));
  }
  return reading.finish({.description = fmt::format("pod list {}", file.filename().string()),
                         .id_field = "name",
                         .id_of = "name of the pod"});
}

}  // namespace

WorkloadFormat openb_csv_format() {
  WorkloadFormat format = trace("openb-csv", read_openb_csv);
  format.part.keys = {
      {"workload.openb_gpu_shares",
       "openb-csv: a pod has the share of a GPU that it asks for; false: a whole one",
       config::FlagKeyOf<ReplayConfig>{config::format_key<&OpenbSettings::gpu_shares>}}};
  return format;
}

}  // namespace muster::replay
