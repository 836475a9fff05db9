#include "tools/pareto/elastic_load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/pareto/small_load.hpp"

namespace muster::pareto {
namespace {

using namespace test;
using ::testing::HasSubstr;

Expected<ElasticLoad, NoFrontier> load_of(const replay::Workload& workload,
                                          const boa::BoaParams& params = {}) {
  return elastic_load(workload, muster::test::table3_catalog(), params);
}

TEST(ElasticLoads, AreTheJobsOfAClassOverWholeHours) {
  const ElasticLoad load = small_load();
  ASSERT_EQ(load.classes.size(), 1U);
  EXPECT_EQ(load.hours, 2) << "100 minutes from the first job to the last";
  EXPECT_EQ(load.classes[0].work.name, "net");
  EXPECT_EQ(load.classes[0].jobs, 4U);
  EXPECT_DOUBLE_EQ(load.classes[0].work.jobs_per_h, 2);
  EXPECT_DOUBLE_EQ(load.load_gpus(), 6);
  EXPECT_DOUBLE_EQ(load.classes[0].worker_usd_h, 3);
  ASSERT_EQ(load.classes[0].work.epochs.size(), 2U);
  EXPECT_DOUBLE_EQ(load.classes[0].work.epochs[1].gpu_h, 2);
}

TEST(ElasticLoads, CountAtLeastAnHour) {
  replay::Workload workload;
  add(workload, training(1), 100);
  add(workload, training(2), 160);
  const ElasticLoad load = load_of(workload).value();
  EXPECT_EQ(load.hours, 1);
  EXPECT_DOUBLE_EQ(load.jobs_per_h(), 2);
}

TEST(ElasticLoads, TakeAClassAsItsNewestJobStatesIt) {
  replay::Workload workload;
  add(workload, training(1, "net", 30), 0);
  add(workload, training(2, "net", 90), 10);
  add(workload, training(3, "bert", 60), 20);
  const ElasticLoad load = load_of(workload).value();
  ASSERT_EQ(load.classes.size(), 2U);
  EXPECT_EQ(load.classes[0].work.name, "bert");
  EXPECT_DOUBLE_EQ(load.classes[1].work.rescale_h * 3600, 90);
  boa::BoaParams blind;
  blind.rescales = false;
  EXPECT_EQ(load_of(workload, blind)->classes[1].work.rescale_h, 0);
}

TEST(ElasticLoads, HaveTheRatesThatAreStated) {
  boa::BoaParams params;
  params.arrivals.stated = {"net:5"};
  EXPECT_DOUBLE_EQ(small_load(params).load_gpus(), 15);
  params.arrivals.stated = {"bert:5"};
  const auto none = load_of(four_jobs(), params);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("rates_h"));
}

TEST(ElasticLoads, HaveTheWeightsThatAreStated) {
  boa::BoaParams params;
  EXPECT_EQ(small_load(params).classes[0].work.weight, 1);
  params.weights = {"bert:5", "net:2.5"};
  EXPECT_EQ(small_load(params).classes[0].work.weight, 2.5);
}

TEST(ElasticLoads, LeaveOutOtherJobsAndSayHowMany) {
  replay::Workload workload = four_jobs();
  add(workload, JobBuilder(9).build(), 9000);
  EXPECT_EQ(load_of(workload)->others, 1U);
  replay::Workload plain;
  add(plain, JobBuilder(9).build(), 0);
  const auto none = load_of(plain);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, NoFrontier::no_elastic_jobs);
}

TEST(ElasticLoads, NeedSpeedupsThatAreStated) {
  replay::Workload workload;
  add(workload, JobBuilder(1).workload_class("silent").elastic(1, 4).build(), 0);
  const auto none = load_of(workload);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, NoFrontier::not_stated);
  EXPECT_THAT(none.error().message, HasSubstr("\"silent\""));
}

TEST(ElasticLoads, HaveTheTypesThatAllClassesMayBeOn) {
  const Catalog& catalog = muster::test::table3_catalog();
  EXPECT_EQ(elastic_load(four_jobs(), catalog, {})->types,
            (std::vector<boa::GpuType>{{"gpu", 3, 1}}));
  replay::Workload both = four_jobs();
  Job two = training(5, "other");
  for (TaskSpec& task : two.tasks) {
    task.demands =
        Demands({{"gpu", Resources::of(1, 4, 16), 1}, {"cpu", Resources::of(0, 4, 16), 0.1}});
  }
  add(both, two, 9000);
  EXPECT_TRUE(load_of(both)->types.empty()) << "on other types";
  replay::Workload alone;
  add(alone, two, 0);
  EXPECT_EQ(load_of(alone)->types, (std::vector<boa::GpuType>{{"cpu", 0.4, 0.1}, {"gpu", 3, 1}}));
}

TEST(ElasticLoads, NeedATypeThatHoldsAWorker) {
  replay::Workload workload;
  Job large = training(1);
  for (TaskSpec& task : large.tasks) task.demands = Demands(Resources::of(5, 4, 16));
  add(workload, large, 0);
  const auto none = load_of(workload);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, NoFrontier::no_price);
}

}  // namespace
}  // namespace muster::pareto
