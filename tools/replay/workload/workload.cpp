#include "tools/replay/workload/workload.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/replay/workload/readers.hpp"

namespace muster::replay {
namespace {

DraftsResult read_any(const WorkloadConfig& config, std::uint64_t seed) {
  if (config.format == "synthetic") return make_synthetic(config.synthetic, seed);
  if (config.format == "composed") return compose(config, seed);
  return read_trace(config.format, config);
}

/// Brings the jobs into order (equal ones stay as they are) and takes what is wanted of them.
void select(Drafts& drafts, const WorkloadConfig& config) {
  std::vector<JobDraft>& jobs = drafts.jobs;
  leave_out_small(drafts, config.min_tasks);
  std::stable_sort(jobs.begin(), jobs.end(), [](const JobDraft& a, const JobDraft& b) {
    return a.job.submit < b.job.submit;
  });
  if (config.max_jobs > 0 && jobs.size() > config.max_jobs) {
    jobs.resize(config.max_jobs);
    drafts.description += fmt::format(", the first {} jobs", config.max_jobs);
  }
  bool cut = false;
  for (JobDraft& draft : jobs) {
    if (config.max_tasks == 0 || draft.tasks <= config.max_tasks) continue;
    draft.tasks = config.max_tasks;
    cut = true;
    std::vector<double>& work = draft.job.truth.task_iterations;
    if (!work.empty()) work.resize(draft.tasks);
  }
  if (cut) drafts.description += fmt::format(", at most {} tasks of each job", config.max_tasks);
}

Expected<Workload, WorkloadError> make_jobs(Drafts drafts, const std::filesystem::path& file) {
  std::size_t tasks = 0;
  for (const JobDraft& draft : drafts.jobs) tasks += draft.tasks;
  if (tasks > kMostTasks) {
    return Failure<WorkloadError>{
        WorkloadError::invalid,
        fmt::format("{}: has {} tasks, which is more than {}; take fewer jobs (workload.max_jobs) "
                    "or fewer tasks of each (workload.max_tasks)",
                    file.string(), tasks, kMostTasks)};
  }
  Workload workload;
  workload.description = std::move(drafts.description);
  workload.jobs.reserve(drafts.jobs.size());
  std::uint64_t next = 0;
  for (JobDraft& draft : drafts.jobs) {
    std::vector<TaskSpec>& specs = draft.job.job.tasks;
    specs.resize(draft.tasks, TaskSpec(specs.at(0)));
    for (TaskSpec& task : specs) task.id = TaskId{next++};
    workload.jobs.push_back(std::move(draft.job));
  }
  return workload;
}

}  // namespace

DraftsResult read_trace(const std::string& format, const WorkloadConfig& config) {
  if (format == "eva-json") return read_eva_json(config.path);
  if (format == "openb-csv") return read_openb_csv(config.path);
  if (format == "muster-csv") return read_muster_csv(config.path);
  if (format == "tr") return read_tr(config);
  if (format == "google-2011") return read_google_2011(config);
  if (format == "alibaba-2017") return read_alibaba_2017(config);
  if (format == "swf") return read_swf(config);
  return Failure<WorkloadError>{WorkloadError::invalid,
                                unknown_word("workload format", format, workload_formats())};
}

Resources default_demand(const TaskDefaults& task) {
  Resources demand = Resources::of(0, task.cpu, task.memory_gib);
  demand[Resource::storage] = task.storage_gib;
  demand[Resource::network] = task.network_gbit_s;
  return demand;
}

void start_at_first(std::vector<JobDraft>& jobs) {
  const auto first = std::min_element(
      jobs.begin(), jobs.end(),
      [](const JobDraft& a, const JobDraft& b) { return a.job.submit < b.job.submit; });
  if (first == jobs.end()) return;
  const Duration offset = first->job.submit.time_since_epoch();
  for (JobDraft& draft : jobs) draft.job.submit -= offset;
}

void leave_out_small(Drafts& drafts, std::uint32_t min_tasks) {
  const std::size_t small =
      std::erase_if(drafts.jobs, [&](const JobDraft& draft) { return draft.tasks < min_tasks; });
  if (small > 0) {
    drafts.description += fmt::format(", {} of fewer than {} tasks left out", small, min_tasks);
  }
}

std::string interference_name(std::string_view workload_class) {
  const std::string_view name = workload_class.substr(0, workload_class.find('['));
  return std::string(name.empty() ? workload_class : name);
}

Failure<WorkloadError> invalid(const ErrorList& errors) {
  return {WorkloadError::invalid, errors.text(kShownErrors)};
}

Failure<WorkloadError> as_workload_error(const Failure<ConfigError>& failure) {
  switch (failure.code) {
    case ConfigError::unreadable:
      return {WorkloadError::unreadable, failure.message};
    case ConfigError::malformed:
      return {WorkloadError::malformed, failure.message};
    case ConfigError::invalid:
    case ConfigError::bad_override:
      break;
  }
  return {WorkloadError::invalid, failure.message};
}

Failure<WorkloadError> as_workload_error(const Failure<TextFileError>& failure) {
  const bool unreadable = failure.code == TextFileError::unreadable;
  return {unreadable ? WorkloadError::unreadable : WorkloadError::malformed, failure.message};
}

Expected<Workload, WorkloadError> read_workload(const WorkloadConfig& config, std::uint64_t seed) {
  auto drafts = read_any(config, seed);
  if (!drafts) return drafts.error();
  select(drafts.value(), config);
  auto workload = make_jobs(std::move(drafts).value(), config.path);
  if (!workload || config.scale_time == 1) return workload;
  return with_times_scaled(std::move(workload).value(), config.scale_time);
}

Expected<Workload, WorkloadError> with_times_scaled(Workload workload, double factor) {
  for (WorkloadJob& job : workload.jobs) {
    const double scaled_s = to_seconds(job.submit) * factor;
    if (scaled_s > to_seconds(kLongest)) {
      return Failure<WorkloadError>{WorkloadError::invalid,
                                    fmt::format("workload: times of submission x {} go beyond {} s",
                                                number_text(factor), seconds_text(kLongest))};
    }
    job.submit = Instant{from_seconds(scaled_s)};
  }
  workload.description += fmt::format(", times of submission x {}", number_text(factor));
  return workload;
}

}  // namespace muster::replay
