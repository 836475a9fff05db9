#include "tools/bound/fluid_workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/replay_parts.hpp"
#include "replay/pairwise_interference.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::bound {
namespace {

using muster::test::JobBuilder;
using ::testing::HasSubstr;

/// Jobs that a test adds, on the four types of the Eva paper's Table 3 unless it says otherwise.
class FluidWorkloadTest : public ::testing::Test {
 protected:
  /// So many hours of work at speed 1: of a gang as a whole, or of each task.
  void add(JobBuilder job, double hours, const std::string& interference = "w") {
    workload_.jobs.push_back({job.build(), {}, {hours * 3600, 1, interference}});
  }
  /// A job of one task.
  JobBuilder next() { return JobBuilder(workload_.jobs.size() + 1).gang(false); }
  FluidWorkload fluid() { return fluid_workload(config_, catalog_, workload_).value(); }
  std::string refusal() {
    const auto made = fluid_workload(config_, catalog_, workload_);
    return made ? "" : made.error().message;
  }

  ReplayConfig config_;
  Catalog catalog_ = muster::test::table3_catalog();
  replay::Workload workload_;
};

TEST_F(FluidWorkloadTest, AddsUpTheWorkOfTasksWithEqualDemands) {
  add(next().demand(Resources::of(0, 2, 4)), 3);
  add(next().demand(Resources::of(0, 2, 4)), 4);
  add(next().demand(Resources::of(0, 2, 5)), 5);
  const FluidWorkload made = fluid();
  ASSERT_EQ(made.problem.kinds.size(), 2u);
  EXPECT_DOUBLE_EQ(made.problem.kinds[0].work_h, 7);
  EXPECT_EQ(made.problem.kinds[0].tasks, 2u);
  EXPECT_DOUBLE_EQ(made.problem.kinds[1].work_h, 5);
  EXPECT_DOUBLE_EQ(made.work_h, 12);
  EXPECT_DOUBLE_EQ(made.alone_usd, 12 * 0.4);  // it4 holds each of them
}

TEST_F(FluidWorkloadTest, KeepsClassesApartThatInterfereInOtherWays) {
  const muster::test::TempFile matrix("m.csv", "workload,a,b\na,0.9,0.8\nb,0.7,1\n");
  config_.world.interference.model = "pairwise";
  config_.world.interference.default_pair = 0.6;
  config_.world.interference.own.of<replay::PairwiseSettings>().matrix = matrix.path();
  add(next(), 1, "a");
  add(next(), 1, "b");
  add(next(), 1, "unknown");
  add(next(), 1, "unknown too");
  const FluidWorkload made = fluid();
  ASSERT_EQ(made.problem.kinds.size(), 3u);
  const PairTable& rates = made.problem.rates;
  const std::uint32_t a = made.problem.kinds[0].cls;
  const std::uint32_t b = made.problem.kinds[1].cls;
  const std::uint32_t other = made.problem.kinds[2].cls;
  EXPECT_DOUBLE_EQ(rates.at(a, b), 0.8);
  EXPECT_DOUBLE_EQ(rates.at(b, a), 0.7);
  EXPECT_DOUBLE_EQ(rates.at(a, a), 0.9);
  EXPECT_DOUBLE_EQ(rates.at(a, other), 0.6);
  EXPECT_EQ(made.problem.kinds[0].name, "a 0/2/4");
  EXPECT_TRUE(made.interference);
}

TEST_F(FluidWorkloadTest, CountsNoInterferenceWhereTheModelHasNoPairs) {
  config_.world.interference.model = "pairwise";
  auto& own = config_.world.interference.own.of<replay::PairwiseSettings>();
  own.matrix = muster::test::source_dir() / "config/interference/eva-contention-matrix.csv";
  own.as_generated = true;
  add(next(), 1, "gcn");
  const FluidWorkload made = fluid();
  EXPECT_FALSE(made.interference);
  EXPECT_DOUBLE_EQ(made.problem.rates.at(0, 0), 1);
}

TEST_F(FluidWorkloadTest, GivesEachTaskOfAGangTheWorkOfTheGang) {
  add(next().tasks(3).gang(true), 2);
  EXPECT_DOUBLE_EQ(fluid().problem.kinds[0].work_h, 6);
  EXPECT_EQ(fluid().tasks, 3u);
}

TEST_F(FluidWorkloadTest, GivesEachTaskOfAnArrayItsOwnWork) {
  add(next().tasks(2), 2);
  workload_.jobs[0].truth.task_iterations = {3600, 4 * 3600};
  EXPECT_DOUBLE_EQ(fluid().problem.kinds[0].work_h, 5);
}

TEST_F(FluidWorkloadTest, HasDemandsAndSpeedsByFamily) {
  add(next().demands(
          Demands({{"gpu", Resources::of(1, 2, 4), 3}, {"cpu", Resources::of(0, 6, 4), 1}})),
      6);
  const FluidWorkload made = fluid();
  const FluidKind& kind = made.problem.kinds[0];
  EXPECT_DOUBLE_EQ(kind.on[0].speed, 3);
  EXPECT_EQ(kind.on[0].amount, Resources::of(1, 2, 4));
  EXPECT_DOUBLE_EQ(kind.on[2].speed, 1);
  EXPECT_DOUBLE_EQ(kind.on[3].speed, 0);  // 6 CPUs do not fit it4
  // 2 h on it2 at $3 or 6 h on it3 at $0.8.
  EXPECT_DOUBLE_EQ(made.alone_usd, 6 * 0.8);
}

TEST_F(FluidWorkloadTest, LeavesOutWhatCannotBeHostedOrCostsNothing) {
  add(next(), 1);
  add(next().demand(Resources::of(0, 100, 1)), 1);
  add(next().demand(Resources{}).tasks(2), 1);
  const FluidWorkload made = fluid();
  EXPECT_EQ(made.problem.kinds.size(), 1u);
  EXPECT_EQ(made.tasks, 4u);
  EXPECT_EQ(made.never_fit, 1u);
  EXPECT_EQ(made.free, 2u);
}

TEST_F(FluidWorkloadTest, CountsTheCheaperMarket) {
  std::vector<InstanceType> types = catalog_.types();
  types[3].spot = Price::from_usd_h(0.1);
  catalog_ = Catalog(types);
  add(next(), 1);
  EXPECT_DOUBLE_EQ(fluid().problem.types[3].usd_h, 0.1);
  EXPECT_FALSE(fluid().prices_vary);
}

TEST_F(FluidWorkloadTest, CountsTheLeastPriceOfATrace) {
  const muster::test::TempFile prices("p.csv",
                                      "time_s,type,market,zone,price_usd_h,available,revoke\n"
                                      "0,it4,on-demand,,0.5,1,0\n60,it4,on-demand,,0.3,1,0\n"
                                      "90,it4,on-demand,,0.6,1,0\n");
  config_.cloud.provider = "trace";
  config_.cloud.own.of<TraceCloudSettings>().prices = prices.path();
  add(next(), 1);
  EXPECT_DOUBLE_EQ(fluid().problem.types[3].usd_h, 0.3);
  EXPECT_DOUBLE_EQ(fluid().problem.types[2].usd_h, 0.8);
  EXPECT_TRUE(fluid().prices_vary);
}

TEST_F(FluidWorkloadTest, NamesTheKeyOfASeriesThatIsNotThere) {
  config_.cloud.provider = "trace";
  config_.cloud.own.of<TraceCloudSettings>().prices = "/nowhere/p.csv";
  EXPECT_THAT(refusal(), HasSubstr("cloud.prices: "));
  EXPECT_THAT(refusal(), HasSubstr("/nowhere/p.csv"));
}

TEST_F(FluidWorkloadTest, HasNoBoundOnAFixedFleet) {
  config_.fleet.parts = {{2, "it4", Market::on_demand}};
  add(next(), 1);
  EXPECT_THAT(refusal(), HasSubstr("no bound: master.fleet is fixed"));
}

TEST_F(FluidWorkloadTest, HasNoBoundWhereATypeCostsNothing) {
  std::vector<InstanceType> types = catalog_.types();
  types[1].on_demand = Price{};
  catalog_ = Catalog(types);
  EXPECT_THAT(refusal(), HasSubstr("no bound: it2 costs nothing"));
}

TEST_F(FluidWorkloadTest, NamesTheKeyOfAFileThatIsNotThere) {
  config_.world.interference.model = "pairwise";
  config_.world.interference.own.of<replay::PairwiseSettings>().matrix = "/nowhere/m.csv";
  EXPECT_THAT(refusal(), HasSubstr("world.interference.matrix: "));
  EXPECT_THAT(refusal(), HasSubstr("/nowhere/m.csv"));
}

}  // namespace
}  // namespace muster::bound
