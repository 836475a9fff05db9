#include "replay/workload/stated.hpp"

#include <array>

#include "config/csv.hpp"
#include "model/rng.hpp"

namespace muster::replay {
namespace {

constexpr std::string_view kRatio = "actual_over_predicted";
constexpr std::array<CsvColumn, 1> kRatioColumns = {{{kRatio, true}}};
constexpr NumberRange kRatios{.low = 1e-9, .high = 1e9};

Expected<std::vector<double>, WorkloadError> read_ratios(const std::filesystem::path& file) {
  const auto table = read_csv(file);
  if (!table) return as_workload_error(table.error());
  ErrorList errors;
  CsvReader row(table.value(), kRatioColumns, errors);
  std::vector<double> ratios;
  for (const auto& fields : table->rows) {
    if (row.select(fields)) ratios.push_back(row.number(kRatio, kRatios));
  }
  if (errors.empty() && ratios.empty()) errors.add({file.string()}, "", "has no rows");
  if (!errors.empty()) return invalid(errors);
  return ratios;
}

/// The job states `factor` times its true run time.
void say(JobRow& job, double factor) {
  job.runtime_hint = from_seconds(job.iterations / job.iterations_per_s * factor);
}

}  // namespace

RawJobsResult state_run_times(RawJobs raw_jobs, const StatedRunTimes& stated, std::uint64_t seed) {
  if (stated.by == "as-read") return raw_jobs;
  std::vector<double> ratios;
  if (stated.by == "drawn") {
    auto read = read_ratios(stated.errors);
    if (!read) return read.error();
    ratios = std::move(read).value();
  }
  // The jobs themselves may be drawn by the same seed.
  Rng rng(seed ^ 0x73746174656dU);
  for (JobRow& job : raw_jobs.jobs) {
    if (job.like->service) continue;  // it runs until its user ends it
    if (stated.by == "none") {
      job.runtime_hint.reset();
    } else if (stated.by == "drawn") {
      say(job, 1 / ratios[rng.below(ratios.size())]);
    } else {
      const double factor = stated.by == "factor" ? rng.uniform(std::min(1.0, stated.factor),
                                                                std::max(1.0, stated.factor))
                                                  : 1;
      say(job, factor);
      job.task_hint_factor = factor;
    }
  }
  raw_jobs.description += ", run times stated: " + stated.by;
  return raw_jobs;
}

}  // namespace muster::replay
