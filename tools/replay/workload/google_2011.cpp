#include "tools/replay/workload/google_2011.hpp"

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
constexpr NumberRange kMicroseconds{.low = 0, .high = to_seconds(kLongest) * kMicros};

/// Makes jobs of the tasks that belong together. Tasks of a job that ask for other amounts than its
/// first ones are a job of their own, so that all tasks of a job are alike.
class GoogleReader {
 public:
  GoogleReader(const WorkloadConfig& config, CsvReader& row)
      : config_(config), own_(config.own.of<GoogleSettings>()), row_(row) {}

  void read_task();
  std::vector<JobDraft> take();

 private:
  JobDraft new_job();

  const WorkloadConfig& config_;
  const GoogleSettings& own_;
  CsvReader& row_;
  std::vector<JobDraft> jobs_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known_;
};

JobDraft GoogleReader::new_job() {
  JobDraft draft;
  draft.tasks = 0;
  Job& job = draft.job.job;
  draft.job.submit = Instant{from_seconds(row_.number("submit_us", kMicroseconds) / kMicros)};
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
  const double priority = row_.number("priority", {0, kHighestPriority, false, true});
  const double runtime_s = row_.number("runtime_us", kMicroseconds) / kMicros;
  // After both fields were read, so that a malformed row is an error whatever its priority.
  if (priority > own_.max_priority) return;
  const auto [known, is_new] = known_.try_emplace(
      {row_.text("job_id"), row_.text("cpu_request"), row_.text("memory_request")}, jobs_.size());
  if (is_new) {
    jobs_.push_back(new_job());
    jobs_.back().job.job.priority = static_cast<int>(priority);
  }
  JobDraft& draft = jobs_[known->second];
  ++draft.tasks;
  draft.job.truth.task_iterations.push_back(runtime_s);
}

std::vector<JobDraft> GoogleReader::take() {
  for (JobDraft& draft : jobs_) {
    JobTruth& truth = draft.job.truth;
    for (const double work : truth.task_iterations) truth.iterations += work;
    // The mean of its tasks; each task's own work stays in task_iterations.
    truth.iterations /= static_cast<double>(draft.tasks);
    draft.job.job.runtime_hint = from_seconds(truth.iterations);
  }
  return std::move(jobs_);
}

/// Tasks that were there when Google's trace of 2011 begins, with their requests.
RawJobsResult read_google_2011(const WorkloadConfig& config) {
  auto table = read_csv(config.path);
  if (!table) return as_workload_error(table.error());
  ErrorList errors;
  CsvReader row(table.value(), kGoogleColumns, errors);
  GoogleReader reader(config, row);
  for (const CsvRow& each : table->rows) {
    if (row.select(each)) reader.read_task();
  }
  if (!errors.empty()) return invalid(errors);
  RawJobs raw_jobs;
  for (JobDraft& draft : reader.take()) raw_jobs.add(std::move(draft));
  start_at_first(raw_jobs.jobs);
  const auto& own = config.own.of<GoogleSettings>();
  raw_jobs.description =
      fmt::format("tasks of priority 0 to {} in {}, requests as parts of {} CPUs and {} GiB",
                  own.max_priority, config.path.filename().string(), number_text(own.machine_cpu),
                  number_text(config.machine_memory_gib));
  return raw_jobs;
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
