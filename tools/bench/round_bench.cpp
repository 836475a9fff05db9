// One decision of a policy for a full cluster: 10,000 instances that are all taken, 100,000 tasks
// that wait, and 1,000 tasks that have just ended, so that about as many can be placed. One for a
// cluster that rents: as many instances and 1,000 tasks that have just come, of forty shapes or
// each of its own. The former also with 1,000 different constraints, which every type meets, or of
// which each leaves out three of the types. And a packing policy's first look at one large gang.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/catalog_file.hpp"
#include "model/rng.hpp"
#include "schedulers/packing/rounds/round_input.hpp"
#include "schedulers/registry.hpp"

namespace muster {
namespace {

constexpr std::uint64_t kInstances = 10'000;
constexpr std::size_t kWaiting = 100'000;
constexpr std::size_t kEnded = 1000;
constexpr std::size_t kArrived = 1000;
constexpr std::uint64_t kShapes = 40;
constexpr std::uint64_t kClasses = 10;

Catalog catalog() {
  auto read =
      load_catalog(std::filesystem::path(MUSTER_SOURCE_DIR) / "config/catalogs/ec2-eva.csv");
  if (read) return std::move(read).value();
  std::cerr << read.error().message << "\n";
  std::exit(1);
}

/// Demands of the tasks.
enum class Shapes : std::uint8_t {
  forty,    ///< kinds
  distinct  ///< each task has its own
};

/// Constraints of the jobs.
struct Constraints {
  std::uint64_t count = 0;     ///< different ones; 0: no job has one
  std::uint64_t left_out = 0;  ///< types that do not meet it
};

/// Instances of all types alike, given or rented, a policy that is told what happens, and its
/// queue.
class Cell {
 public:
  Cell(const std::string& policy, bool rents, Shapes shapes = Shapes::forty,
       Constraints constraints = {})
      : rents_(rents), shapes_(shapes), constraints_(constraints) {
    const auto spec = parse_policy(policy).value();
    policy_ = find_module(spec.name).value()->make_policy(spec, catalog_).value();
    for (std::uint64_t i = 1; i <= kInstances; ++i) {
      const TypeId type{static_cast<std::uint32_t>(i % catalog_.size())};
      happen(LaunchRequested{
          InstanceId{i}, type, Market::on_demand, catalog_.price(type, Market::on_demand), {}});
      happen(InstanceUp{InstanceId{i}});
      happen(InstanceReady{InstanceId{i}});
      fill(InstanceId{i});
    }
    for (std::size_t i = 0; i < (rents ? 0 : kWaiting); ++i) submit(any_demand());
    // The round that finds them all waiting is over; the next one is about what has ended since.
    Rng rng(1);
    Budget budget;
    const Plan plan = policy_->decide(view(), rng, budget);
    happen(RoundDecided{0, plan.note});
    // Longer than a task that counts as short.
    now_ += std::chrono::hours{2};
    for (std::size_t i = 0; i < kEnded; ++i) end_one();
    for (std::size_t i = 0; i < (rents ? kArrived : 0); ++i) submit(any_demand());
  }

  std::size_t running() const { return running_.size(); }
  std::unique_ptr<Policy> clone() const { return policy_->clone(); }
  ClusterView view() const {
    ClusterView view{state_, catalog_, now_};
    if (rents_) view.offerings = &state_.offerings();
    return view;
  }

 private:
  void happen(EventBody body) {
    const Event event{now_, std::move(body)};
    state_.apply(event);
    policy_->observe(event, view());
  }
  /// One of forty kinds, every fourth of them with GPUs.
  static Resources demand_of(std::uint64_t kind) {
    const double gpus = kind % 4 == 0 ? static_cast<double>(1 + kind % 3) : 0;
    const std::uint64_t memory_gib = 2 + kind / 2;  // whole, and two kinds have one
    return Resources::of(gpus, static_cast<double>(1 + kind % 7), static_cast<double>(memory_gib));
  }
  /// Below a kind's, by parts that no other task has.
  Resources own_demand(std::uint64_t kind) {
    Resources demand = demand_of(kind);
    const double less = 1 - 1e-6 * static_cast<double>(next_);
    demand[Resource::cpu] *= less;
    demand[Resource::memory] *= less * (1 - 0.1 * rng_.uniform());
    return demand;
  }
  Resources demand_like(std::uint64_t kind) {
    return shapes_ == Shapes::forty ? demand_of(kind) : own_demand(kind);
  }
  Resources any_demand() { return demand_like(rng_.below(kShapes)); }
  /// The constraint of that number.
  std::string constraint(std::uint64_t number) const {
    if (constraints_.left_out == 0) return "type!=other-" + std::to_string(number);
    Rng draw(number);
    std::string text = "type!=";
    for (std::uint64_t i = 0; i < constraints_.left_out; ++i) {
      const TypeId type{static_cast<std::uint32_t>(draw.below(catalog_.size()))};
      text += (i > 0 ? "|" : "") + catalog_[type].name;
    }
    return text;
  }
  /// `on`: the type on which it is to run; nothing: it waits.
  TaskId submit(const Resources& demand, std::optional<TypeId> on = {}) {
    Job job;
    job.id = JobId{next_++};
    job.workload_class = "class-" + std::to_string(rng_.below(kClasses));
    for (std::uint64_t i = 0; i < constraints_.count; ++i) {
      job.constraint = constraint((job.id.value + i) % constraints_.count);
      if (!on || Constraint::of(job.constraint).admits(catalog_[*on])) break;
    }
    job.tasks.resize(1);
    job.tasks[0].id = TaskId{job.id.value};
    job.tasks[0].demands = Demands(demand);
    const TaskId task = job.tasks[0].id;
    happen(JobAccepted{std::move(job)});
    return task;
  }
  void fill(InstanceId id) {
    const Resources& capacity = catalog_[state_.find(id)->type].capacity;
    // From some kind on, each as often as it fits: no kind fits in the end.
    const std::uint64_t first = rng_.below(kShapes);
    for (std::uint64_t kind = first; kind < first + kShapes; ++kind) {
      Resources demand = demand_like(kind % kShapes);
      while ((state_.find(id)->used + demand).fits_in(capacity)) {
        run(submit(demand, state_.find(id)->type), id, demand);
        demand = demand_like(kind % kShapes);
      }
    }
  }
  void run(TaskId task, InstanceId on, const Resources& demand) {
    happen(TaskAssigned{task, on, {}, Grant{demand}});
    happen(StartIssued{task, on, 1, Grant{demand}});
    happen(TaskStarted{task, 1, {}, {}});
    running_.push_back(task);
  }
  void end_one() {
    // Every 17th, so that the ends are spread over the instances.
    const TaskId task = running_[(next_end_++ * 17) % running_.size()];
    happen(TaskFinished{task, 1, {}});
    happen(JobFinished{JobId{task.value}, JobOutcome::completed, 1, 0});
  }

  bool rents_;
  Shapes shapes_;
  Constraints constraints_;
  Catalog catalog_ = catalog();
  ClusterState state_{catalog_};
  std::unique_ptr<Policy> policy_;
  Rng rng_{7};
  Instant now_ = Instant{std::chrono::hours{1}};
  std::vector<TaskId> running_;
  std::size_t next_end_ = 0;
  std::uint64_t next_ = 1;
};

/// The arguments are how many different constraints the jobs have, and how many types each leaves
/// out.
void full_cluster(benchmark::State& state, const std::string& policy) {
  Cell cell(
      policy, false, Shapes::forty,
      {static_cast<std::uint64_t>(state.range(0)), static_cast<std::uint64_t>(state.range(1))});
  std::size_t placed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    // A clone for each pass: decide() changes what a policy remembers.
    const std::unique_ptr<Policy> fresh = cell.clone();
    Rng rng(2);
    Budget budget;
    state.ResumeTiming();
    placed = fresh->decide(cell.view(), rng, budget).places.size();
  }
  state.counters["placed"] = static_cast<double>(placed);
  state.counters["running"] = static_cast<double>(cell.running());
}

/// Gathers the input of a round for a gang that came just now.
void gather_gang(benchmark::State& state) {
  const Catalog types = catalog();
  ClusterState cluster{types};
  Job gang;
  gang.id = JobId{1};
  gang.gang = true;
  gang.workload_class = "class";
  gang.tasks.resize(static_cast<std::size_t>(state.range(0)));
  for (std::size_t i = 0; i < gang.tasks.size(); ++i) {
    gang.tasks[i].id = TaskId{i + 1};
    gang.tasks[i].demands = Demands(Resources::of(0, 1, 2));
  }
  cluster.apply({Instant{}, JobAccepted{std::move(gang)}});
  const ClusterView view{cluster, types, Instant{}};
  for (auto _ : state) {
    ReservationPrices prices(types);
    TaskKinds kinds(true);
    RoundInput input;
    input.gather({view}, prices, kinds);
    benchmark::DoNotOptimize(input.tasks().size());
  }
}

BENCHMARK(gather_gang)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMillisecond);

/// With that bound of steps for the decision; 0: without a bound.
void rented_cluster(benchmark::State& state, const std::string& policy, Shapes shapes) {
  Cell cell(policy, true, shapes);
  std::map<std::string, double> figures;
  for (auto _ : state) {
    state.PauseTiming();
    const std::unique_ptr<Policy> fresh = cell.clone();
    Rng rng(2);
    Budget budget(static_cast<std::uint64_t>(state.range(0)));
    state.ResumeTiming();
    const Plan plan = fresh->decide(cell.view(), rng, budget);
    figures = {plan.note.figures.begin(), plan.note.figures.end()};
  }
  for (const auto& [name, value] : figures) state.counters[name] = value;
  state.counters["running"] = static_cast<double>(cell.running());
}

BENCHMARK_CAPTURE(rented_cluster, muster, "muster", Shapes::forty)
    ->Arg(1)
    ->Arg(1'000'000)
    ->Arg(10'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(rented_cluster, muster_distinct, "muster", Shapes::distinct)
    ->Arg(1)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(full_cluster, muster, "muster")
    ->Args({0, 0})
    ->Args({1000, 0})
    ->Args({1000, 3})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(full_cluster, eva, "eva")
    ->Args({0, 0})
    ->Args({1000, 0})
    ->Args({1000, 3})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(full_cluster, hcoop, "hcoop")
    ->Args({0, 0})
    ->Args({1000, 0})
    ->Args({1000, 3})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(full_cluster, no_packing, "no-packing")
    ->Args({0, 0})
    ->Args({1000, 0})
    ->Args({1000, 3})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster

BENCHMARK_MAIN();
