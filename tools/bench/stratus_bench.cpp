// A scheduling event of Stratus and of its baselines: 100,000 tasks wait beside 10,000 instances
// that are used by half, and 30 types are on offer on two markets in three zones each.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>

#include "model/rng.hpp"
#include "schedulers/registry.hpp"

namespace muster {
namespace {

constexpr std::uint64_t kInstances = 10'000;
constexpr std::uint64_t kWaiting = 100'000;
constexpr std::uint64_t kTasksOfJob = 20;
constexpr int kSizes = 10;

/// Three families of ten sizes each, cheaper for each cpu or GiB at one size than at another.
Catalog thirty_types() {
  std::vector<InstanceType> types;
  Rng rng(3);
  for (const double gib_per_cpu : {2, 4, 8}) {
    for (int size = 1; size <= kSizes; ++size) {
      const double cpus = 2.0 * size * size;
      InstanceType type;
      type.family = "f" + std::to_string(static_cast<int>(gib_per_cpu));
      type.name = type.family + "." + std::to_string(size);
      type.capacity = Resources::of(0, cpus, gib_per_cpu * cpus);
      const double usd_h = (0.03 + 0.005 * gib_per_cpu) * cpus * rng.uniform(0.8, 1.2);
      type.on_demand = Price::from_usd_h(usd_h);
      type.spot = Price::from_usd_h(usd_h * rng.uniform(0.2, 0.5));
      types.push_back(std::move(type));
    }
  }
  return Catalog(std::move(types));
}

/// A cluster as events have made it, and a policy that was told of them.
class Cell {
 public:
  explicit Cell(const std::string& policy)
      : policy_(make_policy(parse_policy(policy).value(), catalog_).value()) {
    offer_in_zones();
    for (std::uint64_t i = 1; i <= kInstances; ++i) {
      const TypeId type{static_cast<std::uint32_t>(rng_.below(catalog_.size()))};
      const Price price = *catalog_[type].spot;
      happen(LaunchRequested{InstanceId{i}, type, Market::spot, price, {}});
      happen(InstanceUp{InstanceId{i}});
      happen(InstanceReady{InstanceId{i}});
      const Resources half = Resources::of(0, catalog_[type].capacity[Resource::cpu] / 2, 1);
      submit(half, 1);
      happen(TaskAssigned{TaskId{next_task_ - 1}, InstanceId{i}, {}});
      happen(StartIssued{TaskId{next_task_ - 1}, InstanceId{i}, 1});
      happen(TaskStarted{TaskId{next_task_ - 1}, 1, {}, {}});
    }
    for (std::uint64_t i = 0; i < kWaiting / kTasksOfJob; ++i) {
      submit(Resources::of(0, 0.25 * static_cast<double>(1 + rng_.below(16)),
                           0.5 * static_cast<double>(1 + rng_.below(32))),
             kTasksOfJob);
    }
  }
  Plan decide() {
    Budget budget;
    return policy_->clone()->decide(view(), rng_, budget);
  }

 private:
  /// The row without a zone, which the catalog gives, is that of the cheapest one.
  void offer_in_zones() {
    std::uint64_t number = 0;
    for (const InstanceType& type : catalog_.types()) {
      for (const Market market : {Market::on_demand, Market::spot}) {
        const Price least = market == Market::spot ? *type.spot : type.on_demand;
        for (const std::string zone : {"a", "b", "c"}) {
          const Price price = Price::from_usd_h(least.usd_h() * (zone == "b" ? 1 : 1.3));
          happen(OfferingChanged{{++number, now_, {type.name, market, zone, price}}});
        }
      }
    }
  }
  void submit(const Resources& demand, std::uint64_t tasks) {
    Job job;
    job.id = JobId{next_job_++};
    job.runtime_hint = from_seconds(rng_.uniform(1, 20'000));
    job.prediction.runtime = job.runtime_hint;
    for (; tasks > 0; --tasks) {
      TaskSpec& task = job.tasks.emplace_back();
      task.id = TaskId{next_task_++};
      task.demands = Demands(demand);
    }
    happen(JobAccepted{std::move(job)});
  }
  template <class Body>
  void happen(Body body) {
    const Event event{now_, std::move(body)};
    state_.apply(event);
    policy_->observe(event, view());
  }
  ClusterView view() const { return {state_, catalog_, now_, &state_.offerings()}; }

  Catalog catalog_ = thirty_types();
  ClusterState state_{catalog_};
  std::unique_ptr<Policy> policy_;
  Rng rng_{1};
  Instant now_{from_seconds(3600)};
  std::uint64_t next_job_ = 1, next_task_ = 1;
};

void scheduling_event(benchmark::State& state, const std::string& policy) {
  Cell cell(policy);
  double launches = 0;
  for (auto _ : state) launches = static_cast<double>(cell.decide().launches.size());
  state.counters["launches"] = launches;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  for (const std::string policy : {"stratus", "stratus,packing=dot", "stratus,packing=none",
                                   "hotspot", "spot-fleet", "supercloud", "supercloud,dot"}) {
    benchmark::RegisterBenchmark((policy + "/100,000 tasks").c_str(), [policy](
                                                                          benchmark::State& state) {
      muster::scheduling_event(state, policy);
    })->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
