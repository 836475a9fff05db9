#pragma once

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <vector>

#include "config/numbers.hpp"
#include "replay/workload/demands_text.hpp"
#include "replay/workload/workload.hpp"
#include "tests/support/places.hpp"

namespace muster::replay::test {

inline WorkloadConfig reading(std::string format, std::filesystem::path path) {
  WorkloadConfig config;
  config.format = std::move(format);
  config.path = std::move(path);
  return config;
}

inline std::filesystem::path data_file(const std::string& name) {
  return muster::test::source_dir() / "tests" / "data" / name;
}

inline std::string task_text(const TaskSpec& task) {
  const Delays& d = task.delays;
  return fmt::format("task {} [{}] image '{}' delays {} {} {} {} {}", task.id.value,
                     demands_text(task.demands.entries()), task.image, d.fetch.count(),
                     d.build.count(), d.init.count(), d.stop.count(), d.upload.count());
}

/// Everything that there is about a job, numbers without loss: equal texts are equal jobs.
inline std::vector<std::string> job_text(const WorkloadJob& job) {
  const Job& j = job.job;
  std::vector<std::string> lines = {
      fmt::format("job {} '{}' of '{}' class '{}' priority {} gang {} hint {} at {}", j.id.value,
                  j.name, j.user, j.workload_class, j.priority, j.gang,
                  j.runtime_hint ? j.runtime_hint->count() : -1,
                  job.submit.time_since_epoch().count()),
      fmt::format("truth {} at {}/s as '{}'", number_text(job.truth.iterations),
                  number_text(job.truth.iterations_per_s), job.truth.interference)};
  for (const double work : job.truth.task_iterations) lines.push_back(number_text(work));
  for (const TaskSpec& task : j.tasks) lines.push_back(task_text(task));
  return lines;
}

inline std::vector<std::string> all_text(const Workload& workload) {
  std::vector<std::string> lines;
  for (const WorkloadJob& job : workload.jobs) {
    for (std::string& line : job_text(job)) lines.push_back(std::move(line));
  }
  return lines;
}

inline std::string csv_of(const Workload& workload) {
  std::ostringstream out;
  write_workload_csv(workload, out);
  return std::move(out).str();
}

}  // namespace muster::replay::test
