#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

#include "model/rng.hpp"
#include "tools/replay/workload/muster_csv_columns.hpp"
#include "tools/replay/workload/readers.hpp"

namespace muster::replay {
namespace {

constexpr std::array<CsvColumn, 14> kSyntheticColumns = {{{"name", true},
                                                          {"families", true},
                                                          {"iterations_per_s", true},
                                                          {"gpu"},
                                                          {"cpu"},
                                                          {"memory_gib"},
                                                          {"storage_gib"},
                                                          {"network_gbit_s"},
                                                          {"image"},
                                                          {"fetch_s"},
                                                          {"build_s"},
                                                          {"init_s"},
                                                          {"stop_s"},
                                                          {"upload_s"}}};

/// What jobs are made of.
struct Template {
  std::string name;
  double iterations_per_s = 1;
  TaskSpec task;
};

Expected<std::vector<Template>, WorkloadError> read_templates(const std::filesystem::path& file) {
  auto table = read_csv(file);
  if (!table) return as_workload_error(table.error());
  ErrorList errors;
  CsvReader reader(table.value(), kSyntheticColumns, errors);
  std::vector<Template> templates;
  std::set<std::string> names;
  for (const CsvRow& row : table->rows) {
    if (!reader.select(row)) continue;
    Template& made = templates.emplace_back();
    made.name = reader.needed_text("name");
    if (!names.insert(made.name).second) {
      reader.complain("name", fmt::format("'{}' is already the name of a workload", made.name));
    }
    made.iterations_per_s = reader.number("iterations_per_s", kPositive);
    made.task.demands = read_demands(reader);
    read_steps(reader, made.task.delays, made.task.image);
  }
  if (templates.empty() && errors.empty()) {
    errors.add({table->file}, "", "has to have at least one workload");
  }
  if (!errors.empty()) return invalid(errors);
  return templates;
}

double draw_duration_h(const SyntheticWorkload& config, Rng& rng) {
  if (!config.log_uniform) return rng.uniform(config.min_duration_h, config.max_duration_h);
  return std::exp(rng.uniform(std::log(config.min_duration_h), std::log(config.max_duration_h)));
}

WorkloadJob make_job(const Template& from, Duration duration) {
  WorkloadJob to;
  to.job.name = from.name;
  to.job.workload_class = from.name;
  to.job.gang = true;
  to.job.runtime_hint = duration;
  to.job.tasks = {from.task};
  to.truth.iterations = std::floor(to_seconds(duration) * from.iterations_per_s);
  to.truth.iterations_per_s = from.iterations_per_s;
  to.truth.interference = interference_name(from.name);
  return to;
}

}  // namespace

DraftsResult make_synthetic(const SyntheticWorkload& config, std::uint64_t seed) {
  auto templates = read_templates(config.workloads);
  if (!templates) return templates.error();
  Rng rng(seed);
  Drafts drafts;
  double arrival_s = 0;
  for (std::uint32_t i = 0; i < config.jobs; ++i) {
    // The draws of a job in this order: gap, duration, workload. Times are whole seconds, cut off.
    arrival_s += rng.exponential(config.mean_gap_s);
    const double duration_h = draw_duration_h(config, rng);
    const Template& drawn = templates.value()[rng.below(templates->size())];
    const Duration duration = from_seconds(std::floor(duration_h * 3600));
    WorkloadJob job = make_job(drawn, duration);
    job.job.id = JobId{i};
    job.submit = Instant{from_seconds(std::floor(arrival_s))};
    drafts.add({std::move(job), config.tasks_per_job});
  }
  drafts.description =
      fmt::format("{} synthetic jobs of {} tasks each, drawn from {} with seed {}", config.jobs,
                  config.tasks_per_job, config.workloads.filename().string(), seed);
  return drafts;
}

}  // namespace muster::replay
