// Full Reconfiguration alone (Eva's Table 5): tasks drawn from the Eva trace, 21 instance types.
// Environment: MUSTER_DATA is the directory of the data sets (default: ../shared/data).

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/catalog_file.hpp"
#include "model/rng.hpp"
#include "replay/workload/workload.hpp"
#include "schedulers/packing/rounds/full_reconfiguration.hpp"

namespace muster {
namespace {

/// Size of a recorded table after some weeks.
constexpr int kRecordedSets = 2000;

/// The kinds of the trace's tasks and the learned table that the benchmark works with.
class Trace {
 public:
  /// Null, with a message, when the data is not there.
  static std::unique_ptr<Trace> read() {
    const char* data = std::getenv("MUSTER_DATA");
    const std::filesystem::path file =
        std::filesystem::path(data == nullptr ? "../shared/data" : data) /
        "eva/pai_full_gavel.json";
    WorkloadConfig config;
    config.format = "eva-json";
    config.path = file;
    auto workload = replay::read_workload(config, 1);
    if (!workload) {
      std::cerr << "SKIPPED: " << workload.error().message << "\n";
      return nullptr;
    }
    auto catalog =
        load_catalog(std::filesystem::path(MUSTER_SOURCE_DIR) / "config/catalogs/ec2-eva.csv");
    if (!catalog) {
      std::cerr << "SKIPPED: " << catalog.error().message << "\n";
      return nullptr;
    }
    return std::unique_ptr<Trace>(new Trace(std::move(catalog.value()), workload.value()));
  }

  /// Tasks drawn with replacement, the same ones for the same count.
  std::vector<std::uint32_t> draw(std::size_t count) const {
    Rng rng(count);
    std::vector<std::uint32_t> kinds(count);
    for (std::uint32_t& kind : kinds) kind = kind_of_job_[rng.below(kind_of_job_.size())];
    return kinds;
  }
  const std::vector<TaskKind>& kinds() const { return kinds_; }
  WorthModel model() const { return {.prices = prices_, .rates = &rates_}; }
  const Catalog& catalog() const { return catalog_; }

 private:
  Trace(Catalog catalog, const replay::Workload& workload) : catalog_(std::move(catalog)) {
    std::map<std::string, std::uint32_t> known;
    for (const replay::WorkloadJob& job : workload.jobs) {
      const auto next = static_cast<std::uint32_t>(kinds_.size());
      const auto [entry, is_new] = known.emplace(job.job.workload_class, next);
      if (is_new) kinds_.push_back({ClassId{next}, prices_.add({job.job.tasks[0].demands})});
      kind_of_job_.push_back(entry->second);
    }
    Rng rng(7);
    for (int i = 0; i < kRecordedSets; ++i) {
      std::vector<ClassId> neighbours(1 + rng.below(4));
      for (ClassId& one : neighbours) one = ClassId{kind_of_job_[rng.below(kind_of_job_.size())]};
      std::sort(neighbours.begin(), neighbours.end());
      const ClassId task{kind_of_job_[rng.below(kind_of_job_.size())]};
      rates_.record(task, neighbours, rng.uniform(0.7, 1.0));
    }
  }

  Catalog catalog_;
  ReservationPrices prices_{catalog_};
  ColocationTable rates_;
  std::vector<TaskKind> kinds_;
  std::vector<std::uint32_t> kind_of_job_;
};

/// Of the whole process so far, earlier sizes included: run one size alone to know its own.
double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void report(benchmark::State& state, const Trace& trace, const Configuration& result,
            const std::vector<std::uint32_t>& tasks) {
  double alone = 0;
  for (std::uint32_t kind : tasks) {
    alone += trace.model().prices.of(trace.kinds()[kind].shape).usd_h;
  }
  state.counters["instances"] = static_cast<double>(result.bins.size());
  state.counters["cost_vs_alone"] = cost_usd_h(result, PricedTypes(trace.catalog())) / alone;
  state.counters["peak_MiB"] = peak_memory_mib();
}

/// One object for all passes, as a policy has one for all rounds.
void grouped(benchmark::State& state, const Trace& trace) {
  const std::vector<std::uint32_t> tasks = trace.draw(static_cast<std::size_t>(state.range(0)));
  FullReconfiguration packing;
  Configuration result;
  for (auto _ : state) packing.run({trace.kinds(), tasks}, trace.model(), result);
  report(state, trace, result, tasks);
}

/// A policy's first round: nothing is left of an earlier one.
void grouped_from_nothing(benchmark::State& state, const Trace& trace) {
  const std::vector<std::uint32_t> tasks = trace.draw(static_cast<std::size_t>(state.range(0)));
  Configuration last;
  for (auto _ : state) {
    FullReconfiguration packing;
    Configuration result;
    packing.run({trace.kinds(), tasks}, trace.model(), result);
    last = std::move(result);
  }
  report(state, trace, last, tasks);
}

void task_by_task(benchmark::State& state, const Trace& trace) {
  const std::vector<std::uint32_t> tasks = trace.draw(static_cast<std::size_t>(state.range(0)));
  Configuration result;
  for (auto _ : state) {
    result = full_reconfiguration_plain({trace.kinds(), tasks}, trace.model());
  }
  report(state, trace, result, tasks);
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const auto trace = muster::Trace::read();
  if (trace == nullptr) return 0;
  const auto add = [&](const char* name, auto* function, std::vector<std::int64_t> sizes) {
    auto* bench = benchmark::RegisterBenchmark(
        name, [&trace, function](benchmark::State& state) { function(state, *trace); });
    for (std::int64_t size : sizes) bench->Arg(size);
    bench->Unit(benchmark::kMillisecond);
  };
  add("full_reconfiguration", muster::grouped, {50, 1000, 2000, 4000, 8000, 100000, 1000000});
  add("full_reconfiguration_cold", muster::grouped_from_nothing, {8000, 1000000});
  add("full_reconfiguration_plain", muster::task_by_task, {50, 1000, 2000});
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
