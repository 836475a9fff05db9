#include "tools/pareto/in_nodes.hpp"

#include <gtest/gtest.h>

#include "schedulers/boa/class_work.hpp"
#include "tests/pareto/small_load.hpp"
#include "tools/pareto/frontier.hpp"

namespace muster::pareto {
namespace {

using namespace test;
using boa::PlanKind;

/// The small load on instances of so many workers that take so long to be up, and to be ready then.
ElasticLoad load_in_nodes(std::uint32_t holds, double acquire_s = 30, double setup_s = 60) {
  ElasticLoad load = small_load();
  for (LoadClass& each : load.classes) {
    each.node_holds = holds;
    each.acquire_h = acquire_s / 3600;
    each.setup_h = setup_s / 3600;
  }
  return load;
}

TEST(BudgetsInNodes, GiveWhatIsPlannedWhereInstancesAreThereAtOnceAndHoldOneWorker) {
  const ElasticLoad load = load_in_nodes(1, 0, 0);
  const auto made = predict_in_nodes(load, 6.5, PlanKind::path);
  const Frontier planned = predict_frontier(load, {6.5}, PlanKind::path);
  ASSERT_TRUE(made);
  EXPECT_DOUBLE_EQ(made->mean_jct_s, planned.points[0].predicted->mean_jct_s);
  EXPECT_DOUBLE_EQ(made->used_gpus, planned.points[0].predicted->gpus);
  EXPECT_DOUBLE_EQ(made->rented_gpus, made->used_gpus);
  EXPECT_NEAR(made->usd, planned.points[0].predicted->usd, 1e-9);
}

TEST(BudgetsInNodes, HaveJobsWaitForAllThatTheyBeginWith) {
  // Both epochs at three workers, two jobs an hour: each waits 90 s once, for three GPUs.
  const auto made = predict_in_nodes(load_in_nodes(1), 100, PlanKind::path);
  ASSERT_TRUE(made);
  const double alone_s = (1 / 2.4 + 2 / 2.7) * 3600;
  EXPECT_NEAR(made->mean_jct_s, alone_s + 90, 1e-6);
  EXPECT_NEAR(made->starting_gpus, 2 * 3 * 90 / 3600.0, 1e-9);
  const double used = 2 * (3 / 2.4 + 6 / 2.7);
  EXPECT_NEAR(made->used_gpus, used, 1e-9);
  EXPECT_NEAR(made->usd, 2 * 3 * (used + 2 * 3 * 60 / 3600.0), 1e-9)
      << "two hours at $3 a GPU; the first 30 s of an instance are not billed";
}

TEST(BudgetsInNodes, HaveGrowthWaitAtTheWidthThatThereIs) {
  // A first epoch that is no faster with more workers is run by one, the second by three.
  ElasticLoad load = load_in_nodes(1);
  load.classes[0].work.epochs[0].speedup = {1, 1, 1};
  const auto made = predict_in_nodes(load, 100, PlanKind::path);
  ASSERT_TRUE(made);
  const double waits_s = 90 + 90 * (1 - 1 / 2.7);
  EXPECT_NEAR(made->mean_jct_s, (1 + 2 / 2.7) * 3600 + waits_s, 1e-6);
  EXPECT_NEAR(made->starting_gpus, 2 * 3 * 90 / 3600.0, 1e-9) << "one, and two more";
  // While it waits one GPU does the work for which three would have been held 90 / 2.7 s.
  const double more = 90 / 3600.0 * (1 - 3 / 2.7);
  EXPECT_NEAR(made->used_gpus, 2 * (1 + 6 / 2.7 + more), 1e-9);
}

TEST(BudgetsInNodes, AreRentedToTheLastThatStartsOrIsLeftOver) {
  for (const double budget : {7.9, 8.2, 8.5}) {
    const auto made = predict_in_nodes(load_in_nodes(4), budget, PlanKind::share);
    ASSERT_TRUE(made) << budget;
    EXPECT_DOUBLE_EQ(made->remainder_gpus, 1.5);
    EXPECT_LE(made->rented_gpus, budget);
    EXPECT_DOUBLE_EQ(made->rented_gpus,
                     made->used_gpus + made->starting_gpus + made->remainder_gpus);
    const auto less = predict_in_nodes(load_in_nodes(4), budget - 0.3, PlanKind::share);
    ASSERT_TRUE(less);
    EXPECT_GT(less->mean_jct_s, made->mean_jct_s);
  }
}

TEST(BudgetsInNodes, AreNoneWhereStartsAndRemaindersLeaveTooLittle) {
  EXPECT_TRUE(predict_in_nodes(load_in_nodes(1, 0, 0), 6.5, PlanKind::path));
  EXPECT_FALSE(predict_in_nodes(load_in_nodes(4), 6.5, PlanKind::path))
      << "the load is 6, and 1.5 are left over";
}

TEST(BudgetsInNodes, AreFoundForATarget) {
  const ElasticLoad load = load_in_nodes(4);
  const auto found = cheapest_in_nodes(load, 9000, PlanKind::share);
  ASSERT_TRUE(found);
  EXPECT_LE(found->mean_jct_s, 9000);
  const auto made = predict_in_nodes(load, found->rented_gpus, PlanKind::share);
  ASSERT_TRUE(made);
  EXPECT_NEAR(made->mean_jct_s, found->mean_jct_s, 5);
  const auto less = predict_in_nodes(load, found->rented_gpus - 0.05, PlanKind::share);
  ASSERT_TRUE(less);
  EXPECT_GT(less->mean_jct_s, 9000);
  EXPECT_FALSE(cheapest_in_nodes(load, 4170, PlanKind::share))
      << "4,166.7 s are planned, and 90 s more waited for";
}

}  // namespace
}  // namespace muster::pareto
