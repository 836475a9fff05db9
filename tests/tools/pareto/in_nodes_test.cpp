#include "tools/pareto/in_nodes.hpp"

#include <gtest/gtest.h>

#include "schedulers/boa/class_work.hpp"
#include "tests/tools/pareto/small_load.hpp"
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

std::optional<InNodes> within(const ElasticLoad& load, double budget_gpus, PlanKind kind) {
  return NodePlans(load, kind).within(budget_gpus);
}

TEST(BudgetsInNodes, GiveWhatIsPlannedWhereInstancesAreThereAtOnceAndHoldOneWorker) {
  const ElasticLoad load = load_in_nodes(1, 0, 0);
  const auto made = within(load, 6.5, PlanKind::path);
  const Frontier planned = predict_frontier(load, {6.5}, PlanKind::path);
  ASSERT_TRUE(made);
  EXPECT_DOUBLE_EQ(made->mean_jct_s, planned.points[0].predicted->mean_jct_s);
  EXPECT_DOUBLE_EQ(made->used_gpus, planned.points[0].predicted->gpus);
  EXPECT_DOUBLE_EQ(made->rented_gpus, made->used_gpus);
  EXPECT_NEAR(made->usd, planned.points[0].predicted->usd, 1e-9);
}

TEST(BudgetsInNodes, HaveJobsWaitForAllThatTheyBeginWith) {
  // Both epochs at three workers, two jobs an hour: each waits 90 s once, for three GPUs.
  const auto made = within(load_in_nodes(1), 100, PlanKind::path);
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
  const auto made = within(load, 100, PlanKind::path);
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
    const auto made = within(load_in_nodes(4), budget, PlanKind::share);
    ASSERT_TRUE(made) << budget;
    EXPECT_DOUBLE_EQ(made->remainder_gpus, 1.5);
    EXPECT_LE(made->rented_gpus, budget);
    EXPECT_DOUBLE_EQ(made->rented_gpus,
                     made->used_gpus + made->starting_gpus + made->remainder_gpus);
    const auto less = within(load_in_nodes(4), budget - 0.3, PlanKind::share);
    ASSERT_TRUE(less);
    EXPECT_GT(less->mean_jct_s, made->mean_jct_s);
  }
}

TEST(BudgetsInNodes, AreNoneWhereStartsAndRemaindersLeaveTooLittle) {
  EXPECT_TRUE(within(load_in_nodes(1, 0, 0), 6.5, PlanKind::path));
  EXPECT_FALSE(within(load_in_nodes(4), 6.5, PlanKind::path))
      << "the load is 6, and 1.5 are left over";
}

TEST(BudgetsInNodes, RentAtLeastWhatTheCheapestPlanHasStartAndLeftOver) {
  const InNodes least = in_nodes_at(load_in_nodes(4, 0, 1800), PlanKind::path, 1);
  EXPECT_NEAR(least.used_gpus, 6, 1e-9) << "one worker a job";
  EXPECT_NEAR(least.starting_gpus, 2 * 1 * 0.5, 1e-9) << "half an hour each";
  EXPECT_DOUBLE_EQ(least.rented_gpus, 6 + 1 + 1.5);
}

TEST(BudgetsInNodes, HaveGrowthThatIsStillAwaitedGoOnInLaterEpochs) {
  // Six minutes with one worker, and then two hours of which the first ten are as narrow: a quarter
  // of an hour after the start of the second epoch, which it is ordered at, the others are there.
  ElasticLoad load = load_in_nodes(1, 0, 900);
  load.classes[0].work.epochs = {{0.1, {1, 1, 1}}, {0.1, {1, 1.9, 2.7}}, {2, {1, 1.9, 2.7}}};
  const auto made = within(load, 100, PlanKind::path);
  ASSERT_TRUE(made);
  const double narrow_s = 900 + 360 + 900;
  const double wide_gpu_h = 2.1 - 0.25;
  EXPECT_NEAR(made->mean_jct_s, narrow_s + wide_gpu_h / 2.7 * 3600, 1e-6);
  EXPECT_NEAR(made->used_gpus, 2 * (0.1 + 0.25 + 3 * wide_gpu_h / 2.7), 1e-9);
}

TEST(BudgetsInNodes, NeverTakeLongerForMoreNorRentMoreForALaterTarget) {
  // Starts of half an hour beside epochs of one and two at most: wide plans wait more than they
  // save.
  const ElasticLoad load = load_in_nodes(4, 600, 1200);
  const NodePlans plans(load, PlanKind::path);
  double longest = 1e9;
  for (double budget = 7; budget < 20; budget += 0.25) {
    const auto made = plans.within(budget);
    if (!made) continue;
    EXPECT_GT(made->used_gpus, 0);
    EXPECT_LE(made->weighted_jct_s, longest + 1e-6) << budget;
    longest = made->weighted_jct_s;
  }
  EXPECT_LT(longest, 1e9);
  double most = 1e9;
  for (double target_s = longest; target_s < 4 * longest; target_s += longest / 8) {
    const auto made = plans.cheapest(target_s);
    ASSERT_TRUE(made) << target_s;
    EXPECT_LE(made->rented_gpus, most + 1e-6) << target_s;
    most = made->rented_gpus;
  }
}

TEST(BudgetsInNodes, AreFoundForATarget) {
  const ElasticLoad load = load_in_nodes(4);
  const auto found = NodePlans(load, PlanKind::share).cheapest(9000);
  ASSERT_TRUE(found);
  EXPECT_LE(found->mean_jct_s, 9000);
  const auto made = within(load, found->rented_gpus, PlanKind::share);
  ASSERT_TRUE(made);
  EXPECT_NEAR(made->mean_jct_s, found->mean_jct_s, 5);
  const auto less = within(load, found->rented_gpus - 0.05, PlanKind::share);
  ASSERT_TRUE(less);
  EXPECT_GT(less->mean_jct_s, 9000);
  EXPECT_FALSE(NodePlans(load, PlanKind::share).cheapest(4170))
      << "4,166.7 s are planned, and 90 s more waited for";
}

}  // namespace
}  // namespace muster::pareto
