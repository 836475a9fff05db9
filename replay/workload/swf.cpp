#include "replay/workload/swf.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "replay/workload/blank_rows.hpp"

// The Standard Workload Format. Its jobs state processors, of which one task gets as many as the
// setting says; memory is stated for each processor, in KiB.

namespace muster::replay {
namespace {

constexpr char kSwfComment = ';';
constexpr std::uint32_t kMostProcessors = 100'000;  ///< of a task
constexpr double kKibInGib = 1024.0 * 1024;

/// The fields that matter, by position.
constexpr std::size_t kNumber = 0;
constexpr std::size_t kSubmit = 1;
constexpr std::size_t kRuntime = 3;
constexpr std::size_t kProcessors = 4;
constexpr std::size_t kUsedMemory = 6;
constexpr std::size_t kWantedProcessors = 7;
constexpr std::size_t kWantedTime = 8;
constexpr std::size_t kWantedMemory = 9;
constexpr std::size_t kStatus = 10;
constexpr std::size_t kUser = 11;
constexpr std::size_t kExecutable = 13;
constexpr std::size_t kQueue = 14;
constexpr std::array<std::string_view, 18> kNames = {
    "job number",     "submit time",      "wait time",   "run time",
    "processors",     "average cpu time", "used memory", "requested processors",
    "requested time", "requested memory", "status",      "user",
    "group",          "executable",       "queue",       "partition",
    "preceding job",  "think time"};

/// Whether the line tells of a stretch of a job that was swapped out; the job's summary, which is
/// another line, has all of it.
bool is_partial(double status) {
  return status == 2 || status == 3 || status == 4;
}

/// Reads the jobs of a file; -1 stands for what is not known.
class SwfReader {
 public:
  SwfReader(TraceReading& reading, BlankRows& row)
      : config_(reading.config()),
        own_(config_.own.of<SwfSettings>()),
        reading_(reading),
        row_(row) {}

  /// Nothing for a job that did not run or whose size is not known.
  std::optional<JobDraft> read_job();

 private:
  double known_or(std::size_t field, double fallback) {
    const double value = row_.number(field, kNames[field], {.low = -1, .high = 1e12});
    return value < 0 ? fallback : value;
  }
  Duration seconds(std::size_t field) {
    const double limit_s = to_seconds(kLongest);
    return from_seconds(row_.number(field, kNames[field], {.low = -1, .high = limit_s}));
  }
  std::optional<Instant> submission();
  std::optional<JobId> read_id();
  Demands demands(double processors);

  const WorkloadConfig& config_;
  const SwfSettings& own_;
  TraceReading& reading_;
  BlankRows& row_;
};

std::optional<JobId> SwfReader::read_id() {
  const std::string_view text = row_.text(kNumber);
  const std::optional<std::uint64_t> number = parse_whole(text);
  if (number && JobId{*number}.valid()) return JobId{*number};
  row_.complain(kNames[kNumber],
                fmt::format("has to be a whole number of at least 0; it is '{}'", brief(text)));
  return std::nullopt;
}

/// Nothing when it is not known.
std::optional<Instant> SwfReader::submission() {
  const auto moment = row_.moment(kSubmit, kNames[kSubmit]);
  if (!moment) return std::nullopt;
  if (moment->calendar) reading_.dated();
  if (moment->at >= Duration::zero()) return Instant{moment->at};
  if (moment->at != from_seconds(-1)) {
    row_.complain(kNames[kSubmit], fmt::format("has to be {}, or -1 when it is not known; it is {}",
                                               kWantedMoment, row_.text(kSubmit)));
  }
  return std::nullopt;
}

/// Of a task with that number of processors. Memory counts for each of them: the request, else the
/// use.
Demands SwfReader::demands(double processors) {
  Resources demand = default_demand(config_.task);
  demand[Resource::cpu] *= processors;
  const double used_kib = known_or(kUsedMemory, 0);
  const double memory_kib = known_or(kWantedMemory, used_kib);
  if (memory_kib > 0) demand[Resource::memory] = memory_kib / kKibInGib * processors;
  return Demands(demand);
}

std::optional<JobDraft> SwfReader::read_job() {
  if (row_.size() != kNames.size()) {
    row_.complain(
        "", fmt::format("the line has {} fields, it has to have {}", row_.size(), kNames.size()));
    return std::nullopt;
  }
  JobDraft draft;
  WorkloadJob& to = draft.job;
  const auto id = read_id();
  to.job.gang = own_.gangs;
  const auto submit = submission();
  const Duration runtime = seconds(kRuntime);
  const Duration wanted = seconds(kWantedTime);
  double processors = row_.number(kProcessors, kNames[kProcessors], {.low = -1, .high = 1e6});
  if (processors <= 0) processors = known_or(kWantedProcessors, 0);
  const double status = known_or(kStatus, -1);
  const double user = known_or(kUser, -1);
  const double executable = known_or(kExecutable, -1);
  const double queue = known_or(kQueue, -1);
  const bool memory = known_or(kWantedMemory, known_or(kUsedMemory, 0)) > 0;
  // After all fields were read, so that a row that is left out is checked like the others.
  if (is_partial(status)) {
    reading_.leave_out("that tell of parts of jobs");
    return std::nullopt;
  }
  if (id) reading_.id(id->value);
  if (!submit) {
    reading_.leave_out("without a time of submission");
  } else if (runtime <= Duration::zero()) {
    reading_.leave_out("that did not run");
  } else if (processors <= 0) {
    reading_.leave_out("without processors");
  } else if (!memory && own_.needs_memory) {
    reading_.leave_out("without memory");
  } else {
    to.job.id = id.value_or(JobId{});
    to.submit = *submit;
    const double of_task =
        // A job smaller than a task's processors is one task of its own size.
        std::min<double>(processors, own_.processors_per_task);
    draft.tasks = static_cast<std::size_t>(std::ceil(processors / of_task));
    to.truth.iterations = to_seconds(runtime);
    if (wanted > Duration::zero()) to.job.runtime_hint = wanted;
    if (user >= 0) to.job.user = fmt::format("user{}", user);
    to.job.workload_class =
        executable >= 0 ? fmt::format("executable{}", executable) : std::string(kUnknownClass);
    to.truth.interference = to.job.workload_class;
    // A job has no queue of its own; the name says where it was waiting.
    to.job.name = (queue >= 0 ? fmt::format("queue{}-", queue) : "") + to.job.workload_class;
    to.job.tasks.emplace_back().demands = demands(of_task);
    return draft;
  }
  return std::nullopt;
}

/// The Standard Workload Format of the Parallel Workloads Archive.
TraceResult read_swf(TraceReading& reading) {
  const std::filesystem::path& file = reading.config().path;
  BlankRows row(file, kSwfComment, reading.errors());
  SwfReader reader(reading, row);
  while (row.next()) {
    reading.begin_row(row.line());
    reading.end_row(reader.read_job());
  }
  if (row.failure()) return as_workload_error(*row.failure());
  return reading.finish({.description = fmt::format("workload log {}", file.filename().string()),
                         .id_field = kNames[kNumber],
                         .id_of = "number of the job"});
}

}  // namespace

WorkloadFormat swf_format() {
  WorkloadFormat format = trace("swf", read_swf);
  format.part.keys = {
      {"workload.swf_processors_per_task", "swf: how many of a job's processors make one task",
       config::WholeKeyOf<ReplayConfig>{config::format_key<&SwfSettings::processors_per_task>, 1,
                                        kMostProcessors}},
      {"workload.swf_gangs", "swf: the tasks of a job run together; false: each for itself",
       config::FlagKeyOf<ReplayConfig>{config::format_key<&SwfSettings::gangs>}},
      {"workload.swf_needs_memory", "swf: jobs that say nothing of their memory are left out",
       config::FlagKeyOf<ReplayConfig>{config::format_key<&SwfSettings::needs_memory>}}};
  return format;
}

}  // namespace muster::replay
