#include "replay/workload/synthetic.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

#include "model/log_uniform.hpp"
#include "model/rng.hpp"
#include "model/rounded_text.hpp"
#include "replay/workload/muster_csv_columns.hpp"

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

/// Pattern that jobs are made from.
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
  return log_uniform(config.min_duration_h, config.max_duration_h, rng);
}

WorkloadJob make_job(const Template& from, Duration duration) {
  WorkloadJob to;
  to.job.name = from.name;
  to.job.workload_class = from.name;
  to.job.gang = true;
  to.job.runtime_hint = duration;
  to.job.tasks = {from.task};
  // Whole iterations, so that a job may be shorter than drawn by less than one of them.
  to.truth.iterations = std::floor(to_seconds(duration) * from.iterations_per_s);
  to.truth.iterations_per_s = from.iterations_per_s;
  to.truth.interference = interference_name(from.name);
  return to;
}

/// Draws jobs from a list of workloads; the same seed gives the same jobs.
RawJobsResult make_synthetic(const WorkloadConfig& workload, std::uint64_t seed) {
  const auto& config = workload.own.of<SyntheticWorkload>();
  auto templates = read_templates(config.workloads);
  if (!templates) return templates.error();
  Rng rng(seed);
  RawJobs raw_jobs;
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
    raw_jobs.add({std::move(job), config.tasks_per_job});
  }
  raw_jobs.description = fmt::format(
      "{} of {} each, drawn from {} with seed {}", count_text(config.jobs, "synthetic job"),
      count_text(config.tasks_per_job, "task"), config.workloads.filename().string(), seed);
  return raw_jobs;
}

std::vector<KeyFault> check_synthetic(const ReplayConfig& config) {
  const auto& made = config.workload.own.of<SyntheticWorkload>();
  std::vector<KeyFault> faults;
  if (made.min_duration_h > made.max_duration_h) {
    faults.push_back({"workload.synthetic.min_duration_h",
                      fmt::format("has to be at most max_duration_h, which is {}; it is {}",
                                  made.max_duration_h, made.min_duration_h)});
  }
  if (made.log_uniform && made.min_duration_h <= 0) {
    faults.push_back({"workload.synthetic.min_duration_h",
                      "has to be > 0 when durations are log-uniform; it is 0"});
  }
  return faults;
}

/// How durations are drawn: the second word is for log_uniform.
config::ChoiceKeyOf<ReplayConfig> durations_key() {
  return {{"uniform", "log-uniform"},
          [](ReplayConfig& c) -> std::size_t {
            return config::format_key<&SyntheticWorkload::log_uniform>(c) ? 1 : 0;
          },
          [](ReplayConfig& c, std::size_t i) {
            config::format_key<&SyntheticWorkload::log_uniform>(c) = i == 1;
          }};
}

}  // namespace

WorkloadFormat synthetic_format() {
  using config::format_key;
  using Number = config::NumberKeyOf<ReplayConfig>;
  using Whole = config::WholeKeyOf<ReplayConfig>;
  using Path = config::PathKeyOf<ReplayConfig>;
  WorkloadFormat format{{.name = "synthetic", .needs = {"workload.synthetic.workloads"}},
                        make_synthetic};
  format.part.keys = {
      {"workload.synthetic.workloads",
       "CSV file of the workloads to draw from; needed when the format is synthetic",
       Path{format_key<&SyntheticWorkload::workloads>}},
      {"workload.synthetic.jobs", "how many jobs",
       Whole{format_key<&SyntheticWorkload::jobs>, 1, kMostJobs}},
      {"workload.synthetic.tasks_per_job", "how many identical tasks each job has",
       Whole{format_key<&SyntheticWorkload::tasks_per_job>, 1, 10'000}},
      {"workload.synthetic.mean_gap_s", "mean of the exponential gaps between arrivals",
       Number{format_key<&SyntheticWorkload::mean_gap_s>, {0, 1e8}}},
      {"workload.synthetic.durations", "how durations are drawn between the next two",
       durations_key()},
      {"workload.synthetic.min_duration_h", "durations are drawn from here",
       Number{format_key<&SyntheticWorkload::min_duration_h>, {0, 1e5}}},
      {"workload.synthetic.max_duration_h", "to here",
       Number{format_key<&SyntheticWorkload::max_duration_h>, {0, 1e5}}}};
  format.part.check = check_synthetic;
  return format;
}

}  // namespace muster::replay
