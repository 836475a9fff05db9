// HCoop's master: pairing of waiting tasks that all ask for something else, and decisions with
// 1,000 workers and 10,000 waiting tasks.

#include <benchmark/benchmark.h>

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "model/rng.hpp"
#include "schedulers/hcoop/hcoop_policy.hpp"

namespace muster {
namespace {

using hcoop::HcoopParams;
using hcoop::HcoopPolicy;

constexpr std::size_t kWorkers = 1000;
constexpr std::size_t kWaiting = 10'000;

/// Any mix of cores, GiB and GiB of disk, up to a quarter of a worker; never twice the same.
Resources any_demand(Rng& rng) {
  Resources demand = Resources::of(0, rng.uniform(0.1, 8), rng.uniform(0.1, 32));
  demand[Resource::storage] = rng.uniform(1, 250);
  return demand;
}

Catalog one_worker() {
  InstanceType type;
  type.name = type.family = "worker";
  type.capacity = Resources::of(0, 32, 128);
  type.capacity[Resource::storage] = 1000;
  type.on_demand = Price::from_usd_h(1);
  return Catalog({type});
}

struct Queue {
  explicit Queue(std::size_t count) {
    // Seeded by the size: all algorithms get the same queue of a size.
    Rng rng(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      tasks.push_back(packable(any_demand(rng), catalog[TypeId{0}].capacity, i + 1, i));
    }
  }
  static bool fits(std::span<const Packable> group, const Packable& one) {
    Resources sum = one.share;
    for (const Packable& other : group) sum += other.share;
    return sum.fits_in(whole());
  }
  static Resources whole() {
    Resources all = Resources::of(1, 1, 1);
    all[Resource::storage] = 1;
    return all;
  }

  Catalog catalog = one_worker();
  std::vector<Packable> tasks;
};

double sum_of(const std::vector<std::vector<Packable>>& groups) {
  double sum = 0;
  for (const std::vector<Packable>& group : groups) {
    if (group.size() == 2) sum += deviation(group[0].share, group[1].share);
  }
  return sum;
}

void per_task(benchmark::State& state, std::size_t tasks) {
  state.counters["s_per_task"] =
      benchmark::Counter(static_cast<double>(tasks), benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}

void pairing_greedy(benchmark::State& state) {
  const Queue queue(static_cast<std::size_t>(state.range(0)));
  std::vector<std::vector<Packable>> groups;
  for (auto _ : state) {
    ComplementaryIndex index({Queue::whole()}, queue.catalog[TypeId{0}].capacity);
    for (const Packable& task : queue.tasks) index.insert(task);
    groups = pack_greedily(queue.tasks, 2, Queue::fits, index);
  }
  state.counters["sum_DV"] = sum_of(groups);
  per_task(state, queue.tasks.size());
}

void pairing_plain(benchmark::State& state) {
  const Queue queue(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(pack_plainly(queue.tasks, 2, Queue::fits));
  per_task(state, queue.tasks.size());
}

void pairing_exact(benchmark::State& state) {
  const Queue queue(static_cast<std::size_t>(state.range(0)));
  std::vector<std::vector<Packable>> groups;
  for (auto _ : state) groups = pack_exactly(queue.tasks, Queue::fits);
  state.counters["sum_DV"] = sum_of(groups);
  per_task(state, queue.tasks.size());
}

/// Workers of a fixed fleet and a queue; what happens is told to the policy, which is timed.
class Cell {
 public:
  explicit Cell(const HcoopParams& params) : policy_(catalog_, params) {
    for (std::uint64_t i = 1; i <= kWorkers; ++i) {
      happen(LaunchRequested{InstanceId{i}, TypeId{0}, Market::on_demand, {}, {}});
      happen(InstanceUp{InstanceId{i}});
      happen(InstanceReady{InstanceId{i}});
    }
  }
  void submit(const Resources& demand) {
    Job job;
    job.id = JobId{next_++};
    job.tasks.resize(1);
    job.tasks[0].id = TaskId{job.id.value};
    job.tasks[0].demands = Demands(demand);
    happen(JobAccepted{std::move(job)});
  }
  void submit_any(std::size_t count) {
    for (; count > 0; --count) submit(any_demand(rng_));
  }
  Plan decide() {
    Plan plan;
    Budget budget;
    timed([&] { plan = policy_.decide(view(), rng_, budget); });
    happen(RoundDecided{rounds_++, plan.note});
    return plan;
  }
  void apply_plan(const Plan& plan) {
    for (const Place& place : plan.places) {
      const InstanceId on = std::get<InstanceId>(place.to);
      happen(TaskAssigned{place.task, on, place.cause});
      happen(StartIssued{place.task, on, 1});
      happen(TaskStarted{place.task, 1, {}, {}});
      running_.push_back(place.task);
    }
  }
  /// One task is done, and with it its job.
  void finish_one() {
    const TaskId task = running_[next_done_++];
    happen(TaskFinished{task, 1, {}});
    happen(JobFinished{JobId{task.value}, JobOutcome::completed, 1, 0});
  }
  std::unique_ptr<Policy> clone() const { return policy_.clone(); }
  ClusterView view() const { return {state_, catalog_, {}}; }
  Rng& rng() { return rng_; }
  /// What the policy has taken since the last call.
  double take_seconds() { return std::exchange(seconds_, 0); }

 private:
  template <class Body>
  void happen(Body body) {
    const Event event{{}, std::move(body)};
    state_.apply(event);
    // The policy alone is timed: apply() costs every policy the same.
    timed([&] { policy_.observe(event, view()); });
  }
  template <class Action>
  void timed(const Action& action) {
    const auto before = std::chrono::steady_clock::now();
    action();
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  }

  Catalog catalog_ = one_worker();
  ClusterState state_{catalog_};
  HcoopPolicy policy_;
  Rng rng_{1};
  std::vector<TaskId> running_;
  std::size_t next_done_ = 0;
  std::uint64_t rounds_ = 0;
  std::uint64_t next_ = 1;
  double seconds_ = 0;
};

HcoopParams params_of(const benchmark::State& state) {
  HcoopParams params;
  params.group = static_cast<std::uint32_t>(state.range(0));
  if (state.range(1) == 1) params.pairing = hcoop::Pairing::exact;
  return params;
}

/// 1,000 workers with some room, 10,000 tasks that nobody has looked at yet.
void round_of_all(benchmark::State& state) {
  Cell cell(params_of(state));
  cell.submit_any(3 * kWorkers);
  cell.apply_plan(cell.decide());
  cell.submit_any(kWaiting);
  std::size_t placed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::unique_ptr<Policy> policy = cell.clone();
    Rng rng = cell.rng();
    state.ResumeTiming();
    Budget budget;
    placed = policy->decide(cell.view(), rng, budget).places.size();
  }
  state.counters["placed"] = static_cast<double>(placed);
  per_task(state, kWaiting);
}

/// The workers are full, 10,000 tasks wait; one is done, another one comes: everything that the
/// policy does about that, events included.
void saturated(benchmark::State& state) {
  Cell cell(params_of(state));
  cell.submit_any(kWaiting + 6 * kWorkers);
  cell.apply_plan(cell.decide());
  std::size_t placed = 0, rounds = 0;
  for (auto _ : state) {
    cell.take_seconds();
    cell.finish_one();
    cell.submit_any(1);
    const Plan plan = cell.decide();
    cell.apply_plan(plan);
    state.SetIterationTime(cell.take_seconds());
    placed += plan.places.size();
    ++rounds;
  }
  state.counters["placed_a_round"] = static_cast<double>(placed) / static_cast<double>(rounds);
}

BENCHMARK(pairing_greedy)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(pairing_plain)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(pairing_greedy)->Arg(200)->Unit(benchmark::kMillisecond);
BENCHMARK(pairing_exact)->Arg(200)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(round_of_all)
    ->ArgNames({"group", "exact"})
    ->Args({1, 0})
    ->Args({2, 0})
    ->Args({3, 0})
    ->Args({2, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(saturated)
    ->ArgNames({"group", "exact"})
    ->Args({1, 0})
    ->Args({2, 0})
    ->UseManualTime()
    ->Iterations(3000)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace muster

BENCHMARK_MAIN();
