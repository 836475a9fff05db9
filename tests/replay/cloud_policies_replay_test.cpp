// The policies of the Stratus paper in the replay's world: bills that are known in advance.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "model/rng.hpp"
#include "tests/replay/replay_setup.hpp"

namespace muster::replay {
namespace {

using test::SmallReplay;

constexpr const char* kPolicies[] = {"stratus",   "stratus,packing=dot", "stratus,clearing=false",
                                     "hotspot",   "spot-fleet",          "spot-fleet,price=cpu",
                                     "supercloud"};

/// Nothing takes time but the work, prices stay, and each type costs its share of the largest.
SmallReplay without_delays(std::size_t jobs) {
  SmallReplay replay;
  std::vector<InstanceType> types;
  for (const double cpus : {2, 4, 8, 16}) {
    InstanceType type;
    type.name = "c" + std::to_string(static_cast<int>(cpus));
    type.family = "c";
    type.capacity = Resources::of(0, cpus, 4 * cpus);
    type.on_demand = Price::from_usd_h(cpus / 20);
    types.push_back(std::move(type));
  }
  replay.use(Catalog(std::move(types)));
  Rng rng(7);
  for (std::size_t i = 0; i < jobs; ++i) {
    const Resources demand = Resources::of(0, 0.5 * static_cast<double>(1 + rng.below(16)),
                                           0.5 * static_cast<double>(1 + rng.below(60)));
    replay.job(60.0 * static_cast<double>(rng.below(200)),
               static_cast<double>(30 + rng.below(9000)), demand);
    WorkloadJob& job = replay.workload().jobs.back();
    for (TaskSpec& task : job.job.tasks) task.delays = {};
    job.job.runtime_hint = from_seconds(job.truth.iterations);
  }
  std::stable_sort(replay.workload().jobs.begin(), replay.workload().jobs.end(),
                   [](const auto& a, const auto& b) { return a.submit < b.submit; });
  return replay;
}

double price_of(const Resources& demand, const Catalog& catalog) {
  for (const InstanceType& type : catalog.types()) {
    if (demand.fits_in(type.capacity)) return type.on_demand.usd_h();
  }
  return 0;
}

const Resources& demand_of(const WorkloadJob& job) {
  return job.job.tasks[0].demands.entries()[0].amount;
}

TEST(CloudPolicies, HotspotPaysForEachTaskTheCheapestTypeForAsLongAsItRuns) {
  auto replay = without_delays(60);
  double usd = 0;
  for (const WorkloadJob& job : replay.workload().jobs) {
    usd += price_of(demand_of(job), replay.catalog()) * job.truth.iterations / 3600;
  }
  const auto run = replay.run("hotspot").value();
  EXPECT_EQ(run.result.jobs_completed, 60U);
  EXPECT_EQ(run.result.migrations_per_task, 0);
  EXPECT_NEAR(run.result.total_cost_usd, usd, usd * 1e-3);
}

TEST(CloudPolicies, NobodyPaysLessThanForTheResourcesThatTasksUse) {
  auto replay = without_delays(80);
  double bound_usd = 0;
  for (const WorkloadJob& job : replay.workload().jobs) {
    const Resources& demand = demand_of(job);
    // Of each type a cpu costs $0.05 and has 4 GiB.
    const double cpus = std::max(demand[Resource::cpu], demand[Resource::memory] / 4);
    bound_usd += 0.05 * cpus * job.truth.iterations / 3600;
  }
  for (const char* policy : kPolicies) {
    SCOPED_TRACE(policy);
    const auto run = replay.run(policy).value();
    EXPECT_EQ(run.result.jobs_completed, 80U);
    EXPECT_GE(run.result.total_cost_usd, bound_usd);
    EXPECT_LE(run.result.total_cost_usd, 4 * bound_usd);
    EXPECT_LE(run.result.allocation_cpu.value_or(0), 100);
    EXPECT_LE(run.result.allocation_memory.value_or(0), 100);
  }
}

TEST(CloudPolicies, SupercloudsTasksJoinNoInstanceOfAnEarlierEvent) {
  const auto run = without_delays(80).run("supercloud,moves=false").value();
  std::map<InstanceId, Instant> asked;
  for (const Event& event : run.events) {
    if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
      asked[launch->instance] = event.at;
    } else if (const auto* assigned = std::get_if<TaskAssigned>(&event.body)) {
      EXPECT_EQ(asked.at(assigned->to), event.at);
    }
  }
  EXPECT_FALSE(asked.empty());
}

}  // namespace
}  // namespace muster::replay
