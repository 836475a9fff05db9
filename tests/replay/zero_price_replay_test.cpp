// Machines of one's own may cost nothing: every policy of the table takes a price of 0.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/rng.hpp"
#include "tests/replay/every_policy.hpp"
#include "tests/replay/replay_setup.hpp"
#include "tests/support/golden.hpp"

namespace muster::replay {
namespace {

using test::SmallReplay;

InstanceType type_at(const std::string& name, double cpus, double usd_h) {
  InstanceType type;
  type.name = name;
  type.family = "box";
  type.capacity = Resources::of(0, cpus, 4 * cpus);
  type.on_demand = Price::from_usd_h(usd_h);
  type.setup = std::chrono::seconds{30};
  return type;
}

/// Jobs of which each fits on a machine of 8 cores.
SmallReplay jobs_on(Catalog catalog, std::uint64_t seed) {
  Rng rng(seed);
  SmallReplay replay;
  replay.use(std::move(catalog));
  double at = 0;
  for (int i = 0; i < 20; ++i) {
    at += rng.exponential(120);
    const double cpus = 0.5 * static_cast<double>(1 + rng.below(7));
    replay.job(at, rng.uniform(60, 2000), Resources::of(0, cpus, 1), 1 + rng.below(4));
    Job& job = replay.workload().jobs.back().job;
    job.gang = rng.below(3) == 0;
    job.runtime_hint = from_seconds(600);
  }
  return replay;
}

std::map<std::string, std::size_t> launches(const Run& run, const Catalog& catalog) {
  std::map<std::string, std::size_t> count;
  for (const Event& event : run.events) {
    const auto* launch = std::get_if<LaunchRequested>(&event.body);
    if (launch != nullptr) ++count[catalog[launch->type].name];
  }
  return count;
}

class PriceOfNothingUnder : public ::testing::TestWithParam<std::string> {};

TEST_P(PriceOfNothingUnder, IsPaidForAllInstancesAndEveryJobEnds) {
  const SmallReplay replay =
      jobs_on(Catalog({type_at("small", 4, 0), type_at("large", 8, 0)}), /*seed=*/1);
  const auto run = replay.run(GetParam());
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(run->result.jobs_completed, 20U);
  EXPECT_EQ(run->result.total_cost_usd, 0);
}

TEST_P(PriceOfNothingUnder, IsTakenWhereOtherTypesCostSomething) {
  InstanceType rented = type_at("rented", 8, 0.4);
  rented.spot = Price::from_usd_h(0.1);
  const Catalog catalog({type_at("own", 8, 0), rented, type_at("large", 16, 0.8)});
  const SmallReplay replay = jobs_on(catalog, /*seed=*/2);
  const auto run = replay.run(GetParam());
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(run->result.jobs_completed, 20U);
  EXPECT_TRUE(std::isfinite(run->result.total_cost_usd));
  const auto of_type = launches(run.value(), catalog);
  EXPECT_TRUE(of_type.contains("own")) << run->result.total_cost_usd;
}

/// The most instances of the type that were ordered and not gone at one time.
std::size_t most_at_once(const Run& run, TypeId type) {
  std::set<InstanceId> there;
  std::size_t most = 0;
  for (const Event& event : run.events) {
    if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
      if (launch->type == type) there.insert(launch->instance);
    } else if (const auto* refused = std::get_if<LaunchRefused>(&event.body)) {
      there.erase(refused->instance);
    } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
      there.erase(gone->instance);
    }
    most = std::max(most, there.size());
  }
  return most;
}

TEST_P(PriceOfNothingUnder, IsThatOfCountedMachinesBesideWhichTheRestIsRented) {
  InstanceType own = type_at("own", 8, 0);
  own.family = "own";
  SmallReplay replay = jobs_on(Catalog({own, type_at("rented", 8, 0.4)}), /*seed=*/3);
  for (WorkloadJob& entry : replay.workload().jobs) {
    entry.submit = Instant{};
  }
  replay.config().cloud.own_families = {"own"};
  replay.config().cloud.max_by_type = {{"own", 2}};
  const auto run = replay.run(GetParam());
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(run->result.jobs_completed, 20U);
  EXPECT_EQ(most_at_once(run.value(), TypeId{0}), 2U);
  EXPECT_GT(run->result.total_cost_usd, 0) << "two machines are too few for all at once";
}

TEST(CountedMachinesOfAReplay, HaveToBeStated) {
  InstanceType own = type_at("own", 8, 0);
  own.family = "own";
  SmallReplay replay;
  replay.use(Catalog({own, type_at("rented", 8, 0.4)}));
  replay.job(0, 60, Resources::of(0, 1, 1));
  replay.config().cloud.own_families = {"own"};
  const auto run = replay.run("no-packing");
  ASSERT_FALSE(run.has_value());
  EXPECT_THAT(run.error().message, ::muster::test::IsGolden());
}

INSTANTIATE_TEST_SUITE_P(Policies, PriceOfNothingUnder, ::testing::ValuesIn(test::every_policy()),
                         [](const auto& policy) { return test::test_name(policy.param); });

}  // namespace
}  // namespace muster::replay
