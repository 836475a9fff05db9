// One wide job in a master: the cost of each of its tasks must not depend on their number.

#include <benchmark/benchmark.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "masters/master.hpp"
#include "tools/bench/bench_master.hpp"

namespace muster::bench {
namespace {

/// Of a job with that number of tasks on four instances of a fixed fleet: all are told that there
/// is no room, then all have a place.
std::vector<Plan> refused_and_placed(std::uint64_t tasks) {
  std::vector<Plan> plans(2);
  const Refusal no_room{RefusalKind::not_now, RefusalCode::awaiting_capacity, Resource::cpu, 2, 1};
  for (std::uint64_t i = 0; i < tasks; ++i) {
    plans[0].refusals.push_back({TaskId{1 + i}, no_room});
    plans[1].places.push_back({TaskId{1 + i}, InstanceId{i % 4}, {}});
  }
  return plans;
}

/// One wide job from its acceptance to its end; returns what is on record.
std::vector<Event> live_through(Master& master, std::uint64_t tasks, bool gang) {
  std::vector<Event> log;
  Instant now{};
  const auto commit = [&] {
    Commit done = master.commit();
    log.insert(log.end(), done.events.begin(), done.events.end());
    now += std::chrono::microseconds{10};
  };
  master.keep_fleet(now);
  for (std::uint64_t id = 0; id < 4; ++id) {
    master.instance_up(InstanceId{id}, {}, now);
    master.instance_ready(InstanceId{id}, now);
  }
  master.submit(job_of(1, 1, tasks, gang), now);
  master.submit(job_of(2, tasks + 1, 1, false), now);
  for (int round = 0; round < 2; ++round) {
    master.round({}, now);
    commit();
  }
  for (std::uint64_t id = 1; id <= tasks; ++id, commit()) {
    master.task_started({TaskId{id}, 1, {}, {}}, now);
  }
  for (std::uint64_t id = 1; id <= tasks; ++id, commit()) {
    master.task_finished({TaskId{id}, 1, {}}, now);
  }
  return log;
}

/// `folds`: measures the start of a master that was killed, and not the work of the first one.
void wide_job(benchmark::State& state, bool gang, bool folds) {
  const auto tasks = static_cast<std::uint64_t>(state.range(0));
  std::vector<InstanceType> types = eights().types();
  const auto room = static_cast<double>(tasks);
  types.front().capacity = Resources::of(0, room, 4 * room + 4);
  const Catalog catalog(types);
  const auto make = [&] {
    MasterSettings settings;
    settings.min_stay = {};
    MasterDependencies parts;
    parts.catalog = &catalog;
    parts.policy = std::make_unique<Plans>(refused_and_placed(tasks));
    parts.fleet = {{TypeId{0}, Market::on_demand, 4}};
    return std::make_unique<Master>(settings, std::move(parts));
  };
  std::vector<Event> log;
  if (folds) log = live_through(*make(), tasks, gang);
  for (auto _ : state) {
    const auto master = make();
    const Stopwatch stopwatch(state);
    folds ? void(master->restore(std::nullopt, log)) : void(live_through(*master, tasks, gang));
    // The other job waits on: no plan was for it.
    if (master->state().jobs().size() != 1) state.SkipWithError("the job is not over");
  }
  state.counters["tasks_s"] = benchmark::Counter(static_cast<double>(tasks * state.iterations()),
                                                 benchmark::Counter::kIsRate);
}
void widths(benchmark::internal::Benchmark* bench) {
  bench->Arg(1'000)->Arg(10'000)->Arg(100'000);
  bench->UseManualTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(wide_job, array, false, false)->Apply(widths);
BENCHMARK_CAPTURE(wide_job, gang, true, false)->Apply(widths);
BENCHMARK_CAPTURE(wide_job, array_folded, false, true)->Apply(widths);
BENCHMARK_CAPTURE(wide_job, gang_folded, true, true)->Apply(widths);

}  // namespace
}  // namespace muster::bench
