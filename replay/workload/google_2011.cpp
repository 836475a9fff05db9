#include "replay/workload/google_2011.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <tuple>

#include "config/csv.hpp"

namespace muster::replay {
namespace {

constexpr std::array<CsvColumn, 10> kGoogleColumns = {{{"submit_us", true},
                                                       {"job_id", true},
                                                       {"task_index"},
                                                       {"user_hash", true},
                                                       {"scheduling_class", true},
                                                       {"priority", true},
                                                       {"runtime_us", true},
                                                       {"end_us"},
                                                       {"cpu_request", true},
                                                       {"memory_request", true}}};
constexpr NumberRange kShareOfLargest{.low = 0, .high = 1};
constexpr std::uint32_t kHighestPriority = 11;
constexpr double kMicros = 1e6;
constexpr MomentRange kSubmission{.unit = std::chrono::microseconds{1}};
constexpr NumberRange kMicroseconds{.low = 0, .high = to_seconds(kLongest) * kMicros};

/// Makes jobs of the tasks that belong together. Tasks of a job that ask for other amounts than its
/// first ones are a job of their own, so that all tasks of a job are alike.
class GoogleReader {
 public:
  GoogleReader(TraceReading& reading, CsvReader& row)
      : reading_(reading),
        config_(reading.config()),
        own_(config_.own.of<GoogleSettings>()),
        row_(row) {}

  void read_task();
  /// Hands on the jobs that the tasks make.
  void hand_on();

 private:
  /// A job, and where its first task stands.
  struct Found {
    JobDraft draft;
    std::uint32_t line = 0;
  };
  JobDraft new_job();

  TraceReading& reading_;
  const WorkloadConfig& config_;
  const GoogleSettings& own_;
  CsvReader& row_;
  std::vector<Found> jobs_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known_;
};

JobDraft GoogleReader::new_job() {
  JobDraft draft;
  draft.tasks = 0;
  Job& job = draft.job.job;
  const Moment submit = row_.moment("submit_us", kSubmission);
  if (submit.calendar) reading_.dated();
  draft.job.submit = Instant{submit.at};
  job.id = JobId{jobs_.size()};
  job.name = row_.needed_text("job_id");
  job.user = row_.text("user_hash");
  job.workload_class = fmt::format("class{}", row_.number("scheduling_class", {0, 3, false, true}));
  job.gang = false;
  draft.job.truth.interference = job.workload_class;
  Resources demand = default_demand(config_.task);
  demand[Resource::cpu] = row_.number("cpu_request", kShareOfLargest) * own_.machine_cpu;
  demand[Resource::memory] =
      row_.number("memory_request", kShareOfLargest) * config_.machine_memory_gib;
  job.tasks.emplace_back().demands = Demands(demand);
  return draft;
}

void GoogleReader::read_task() {
  const std::size_t errors = reading_.errors().size();
  const double priority = row_.number("priority", {0, kHighestPriority, false, true});
  const double runtime_s = row_.number("runtime_us", kMicroseconds) / kMicros;
  // After both fields were read, so that a malformed row is an error whatever its priority.
  if (priority > own_.max_priority) return reading_.leave_out("of a higher priority");
  const std::tuple key{row_.text("job_id"), row_.text("cpu_request"), row_.text("memory_request")};
  auto known = known_.find(key);
  if (known == known_.end()) {
    JobDraft draft = new_job();
    draft.job.job.priority = static_cast<int>(priority);
    // A row that is wrong, and may be skipped, begins no job.
    if (reading_.errors().size() > errors) return;
    known = known_.emplace(key, jobs_.size()).first;
    jobs_.push_back({std::move(draft), row_.line()});
  }
  if (reading_.errors().size() > errors) return;
  JobDraft& draft = jobs_[known->second].draft;
  ++draft.tasks;
  draft.job.truth.task_iterations.push_back(runtime_s);
}

void GoogleReader::hand_on() {
  for (auto& [draft, line] : jobs_) {
    JobTruth& truth = draft.job.truth;
    for (const double work : truth.task_iterations) truth.iterations += work;
    // The mean of its tasks; each task's own work stays in task_iterations.
    truth.iterations /= static_cast<double>(draft.tasks);
    draft.job.job.runtime_hint = from_seconds(truth.iterations);
    reading_.begin_row(line);
    reading_.end_row(std::move(draft));
  }
}

/// Tasks that were there when Google's trace of 2011 begins, with their requests.
TraceResult read_google_2011(TraceReading& reading) {
  const WorkloadConfig& config = reading.config();
  auto stream = CsvStream::open(config.path);
  if (!stream) return as_workload_error(stream.error());
  CsvReader row(stream.value(), kGoogleColumns, reading.errors());
  GoogleReader reader(reading, row);
  for (;;) {
    const auto next = stream->next();
    if (!next) return as_workload_error(next.error());
    if (next.value() == nullptr) break;
    reading.begin_row(next.value()->line);
    if (row.select(*next.value())) reader.read_task();
    reading.end_row(std::nullopt);
  }
  reader.hand_on();
  const auto& own = config.own.of<GoogleSettings>();
  return reading.finish(
      {fmt::format("tasks of priority 0 to {} in {}, requests as parts of {} CPUs and {} GiB",
                   own.max_priority, config.path.filename().string(), number_text(own.machine_cpu),
                   number_text(config.machine_memory_gib))});
}

}  // namespace

WorkloadFormat google_2011_format() {
  using config::format_key;
  WorkloadFormat format = trace("google-2011", read_google_2011);
  format.part.keys = {
      {"workload.machine.cpu", "cores of the machine that google-2011 counts requests in",
       config::NumberKeyOf<ReplayConfig>{format_key<&GoogleSettings::machine_cpu>,
                                         {.low = 0, .high = 1e6, .above_low = true}}},
      {"workload.google_max_priority", "google-2011: only tasks of at most this priority",
       config::WholeKeyOf<ReplayConfig>{format_key<&GoogleSettings::max_priority>, 0,
                                        kHighestPriority}}};
  return format;
}

}  // namespace muster::replay
