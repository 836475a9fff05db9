// BOA's width calculator on the 960 jobs of the published newTrace: Algorithm 1 with its fifty
// configurations, hulls given, what making the hulls takes, the shortest path, and problem (1); and
// how long it takes to look up how wide a job is to be, with all of them in the system.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/csv.hpp"
#include "schedulers/boa/boa_memory.hpp"
#include "schedulers/boa/glue_plan.hpp"

namespace muster::boa {
namespace {

constexpr double kBudgetGpus = 112;
constexpr double kSecondsAnHour = 3600;

using Rows = std::vector<std::map<std::string, std::string>>;

Rows rows_of(const std::string& name) {
  const char* data = std::getenv("MUSTER_DATA");  // NOLINT(concurrency-mt-unsafe)
  const auto table =
      read_csv(std::filesystem::path(data == nullptr ? "../shared/data" : data) / "dl" / name);
  if (!table) {
    std::cerr << table.error().message << "; MUSTER_DATA names the folder that holds dl/\n";
    std::exit(1);
  }
  Rows rows;
  for (const CsvRow& row : table->rows) {
    auto& named = rows.emplace_back();
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      named[table->header.fields[i]] = row.fields[i];
    }
  }
  return rows;
}

std::vector<ClassWork> read_newtrace() {
  std::map<std::string, std::vector<EpochWork>> epochs;
  for (const auto& row : rows_of("epochs.csv")) {
    if (row.at("profile") != "osdi21") continue;
    epochs[row.at("class")].push_back({std::stod(row.at("size_gpu_hours")), {}});
  }
  for (const auto& row : rows_of("speedup_by_epoch.csv")) {
    if (row.at("profile") != "osdi21") continue;
    epochs[row.at("class")][std::stoul(row.at("epoch"))].speedup.push_back(
        std::stod(row.at("speedup")));
  }
  std::vector<ClassWork> classes;
  for (const auto& row : rows_of("boa_inputs.csv")) {
    if (row.at("workload") != "newtrace" || row.at("calibration") != "osdi21") continue;
    classes.push_back({row.at("class"), std::stod(row.at("lambda_per_h")),
                       std::stod(row.at("rescale_s")) / kSecondsAnHour,
                       epochs.at(row.at("class"))});
  }
  return classes;
}

const std::vector<ClassWork>& newtrace() {
  static const std::vector<ClassWork> classes = read_newtrace();
  return classes;
}

void algorithm_1(benchmark::State& state) {
  const GluePlanner planner(newtrace());
  for (auto _ : state) benchmark::DoNotOptimize(planner.plan(kBudgetGpus));
}
BENCHMARK(algorithm_1)->Unit(benchmark::kMillisecond);

void algorithm_1_as_printed(benchmark::State& state) {
  const GluePlanner planner(newtrace());
  for (auto _ : state) benchmark::DoNotOptimize(planner.plan(kBudgetGpus, {.refinements = 0}));
}
BENCHMARK(algorithm_1_as_printed)->Unit(benchmark::kMillisecond);

void hulls_of_all_gluings(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(GluePlanner(newtrace()));
}
BENCHMARK(hulls_of_all_gluings)->Unit(benchmark::kMillisecond);

void shortest_path(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(plan_widths(newtrace(), kBudgetGpus));
}
BENCHMARK(shortest_path)->Unit(benchmark::kMillisecond);

void problem_1(benchmark::State& state) {
  std::vector<std::vector<RunOption>> options;
  std::vector<double> rates;
  for (const ClassWork& work : newtrace()) {
    const RunFigures figures(work);
    for (std::size_t epoch = 0; epoch < work.epochs.size(); ++epoch) {
      options.push_back(glued_options(figures, epoch, epoch + 1));
      rates.push_back(work.jobs_per_h);
    }
  }
  std::vector<PairLoad> pairs;
  for (std::size_t p = 0; p < options.size(); ++p) pairs.push_back({rates[p], 1, options[p]});
  for (auto _ : state) benchmark::DoNotOptimize(BudgetSpender(pairs).spend(kBudgetGpus));
}
BENCHMARK(problem_1)->Unit(benchmark::kMicrosecond);

constexpr std::uint64_t kJobs = 960;
constexpr std::uint32_t kMostWorkers = 64;

/// A second of one worker is a unit of progress.
Job job_of(const ClassWork& work, std::uint64_t id) {
  std::vector<ElasticEpoch> epochs;
  double until = 0;
  for (const EpochWork& epoch : work.epochs) {
    until += epoch.gpu_h * kSecondsAnHour;
    epochs.push_back({until, 1, epoch.speedup});
  }
  Job job;
  job.id = JobId{id};
  job.workload_class = work.name;
  job.gang = true;
  job.kind = ElasticSpec{1, kMostWorkers, {}, ElasticEpochs(std::move(epochs))};
  for (std::uint32_t worker = 0; worker < kMostWorkers; ++worker) {
    TaskSpec& task = job.tasks.emplace_back();
    task.id = TaskId{id * kMostWorkers + worker};
    task.demands = Demands(Resources::of(1, 4, 16));
  }
  return job;
}

/// All jobs at once, each somewhere in its run.
class CrowdedCell {
 public:
  CrowdedCell() {
    const std::vector<ClassWork>& classes = newtrace();
    for (std::uint64_t id = 1; id <= kJobs; ++id) {
      Job job = job_of(classes[id % classes.size()], id);
      const double all = std::get<ElasticSpec>(job.kind).epochs.all().back().until;
      const TaskId first = job.tasks.front().id;
      happen(JobAccepted{std::move(job)});
      const double share = static_cast<double>(id) / static_cast<double>(kJobs);
      happen(Measured{{}, 0, {{first, share * all, {}}}});
    }
    memory_.replan(now_);
  }
  std::uint64_t sum_of_widths() const {
    std::uint64_t sum = 0;
    for (const JobRow& job : state_.jobs()) sum += memory_.goal_of(job, {}).width;
    return sum;
  }

 private:
  template <class Body>
  void happen(Body body) {
    const Event event{now_, std::move(body)};
    state_.apply(event);
    memory_.observe(event, {state_, catalog_, now_, &state_.offerings()});
  }
  static Catalog nodes() {
    InstanceType type;
    type.name = "node";
    type.capacity = Resources::of(4, 48, 192);
    type.on_demand = Price::from_usd_h(3.912);
    return Catalog({type});
  }

  Catalog catalog_ = nodes();
  ClusterState state_{catalog_};
  BoaMemory memory_{BoaParams{}};
  Instant now_{from_seconds(3600)};
};

/// One width a job: divide by the jobs.
void lookup_of_all_jobs(benchmark::State& state) {
  const CrowdedCell cell;
  for (auto _ : state) benchmark::DoNotOptimize(cell.sum_of_widths());
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kJobs));
}
BENCHMARK(lookup_of_all_jobs)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace muster::boa

BENCHMARK_MAIN();
