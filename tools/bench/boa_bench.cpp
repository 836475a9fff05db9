// BOA's width calculator on the 960 jobs of the published newTrace: Algorithm 1 with its fifty
// configurations, hulls given, what making the hulls takes, the shortest path, and problem (1).

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/csv.hpp"
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

}  // namespace
}  // namespace muster::boa

BENCHMARK_MAIN();
