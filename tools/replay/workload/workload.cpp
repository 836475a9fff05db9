#include "tools/replay/workload/workload.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/replay/workload/readers.hpp"

namespace muster::replay {
namespace {

WorkloadResult read_any(const WorkloadConfig& config, std::uint64_t seed) {
  if (config.format == "eva-json") return read_eva_json(config.path);
  if (config.format == "openb-csv") return read_openb_csv(config.path);
  if (config.format == "muster-csv") return read_muster_csv(config.path);
  if (config.format == "synthetic") return make_synthetic(config.synthetic, seed);
  return Failure<WorkloadError>{WorkloadError::invalid,
                                unknown_word("workload format", config.format,
                                             {"eva-json", "openb-csv", "muster-csv", "synthetic"})};
}

}  // namespace

std::string interference_name(std::string_view workload_class) {
  const std::string_view name = workload_class.substr(0, workload_class.find('['));
  return std::string(name.empty() ? workload_class : name);
}

void put_in_order(Workload& workload) {
  std::stable_sort(workload.jobs.begin(), workload.jobs.end(),
                   [](const WorkloadJob& a, const WorkloadJob& b) { return a.submit < b.submit; });
  std::uint64_t next = 0;
  for (WorkloadJob& job : workload.jobs) {
    for (TaskSpec& task : job.job.tasks) task.id = TaskId{next++};
  }
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

WorkloadResult read_workload(const WorkloadConfig& config, std::uint64_t seed) {
  WorkloadResult result = read_any(config, seed);
  if (!result) return result;
  std::vector<WorkloadJob>& jobs = result->jobs;
  if (config.max_jobs > 0 && jobs.size() > config.max_jobs) {
    jobs.resize(config.max_jobs);
    result->description += fmt::format(", the first {} jobs", config.max_jobs);
  }
  return result;
}

}  // namespace muster::replay
