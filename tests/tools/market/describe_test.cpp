#include "tools/market/describe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/support/line_with.hpp"
#include "tests/tools/market/market_support.hpp"

namespace muster::market {
namespace {

using muster::test::IsGolden;
using muster::test::line_with;

TEST(Describe, TellsWhatASeriesIsLike) {
  SeriesMap series;
  series[{"m4.large", "a"}] = {{0, 20'000},  {50, 150'000}, {60, 160'000},
                               {70, 30'000}, {80, 100'000}, {90, 110'000}};
  const MarketFacts facts = describe(series, test::catalog(), 0, 100);
  ASSERT_EQ(facts.series.size(), 1U);
  const SeriesFacts& s = facts.series[0];
  EXPECT_EQ(s.ticks, 6U);
  EXPECT_DOUBLE_EQ(s.min_usd, 0.02);
  EXPECT_DOUBLE_EQ(s.max_usd, 0.16);
  EXPECT_NEAR(s.tick_mean_usd, 0.095, 1e-12);
  EXPECT_NEAR(s.time_mean_usd, 0.065, 1e-12);
  EXPECT_NEAR(s.variance, 0.01735 / 6, 1e-12);
  // The on-demand price itself is not above it.
  EXPECT_DOUBLE_EQ(s.over_s, 30);
  EXPECT_EQ(s.crossings, 2U);
}

TEST(Describe, KnowsNothingOfASeriesBeforeItsFirstTick) {
  SeriesMap series;
  series[{"m4.large", "a"}] = {{60, 150'000}, {80, 50'000}};
  const MarketFacts late = describe(series, test::catalog(), 0, 100);
  EXPECT_EQ(late.series[0].ticks, 2U);
  EXPECT_NEAR(late.series[0].time_mean_usd, 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(late.series[0].over_s, 20);
  // What held when the time begins is known.
  const MarketFacts rest = describe(series, test::catalog(), 70, 100);
  EXPECT_EQ(rest.series[0].ticks, 2U);
  EXPECT_DOUBLE_EQ(rest.series[0].over_s, 10);
}

TEST(Describe, CountsHowOftenTheOrderOfCostPerVcpuChanges) {
  SeriesMap series;
  // Per vCPU, in millionths: 10,000, then 15,000, then 16,000; against 12,500, then 11,000.
  series[{"m4.large", "a"}] = {{0, 20'000}, {100, 30'000}, {200, 32'000}};
  series[{"m4.4xlarge", "a"}] = {{0, 200'000}, {300, 176'000}, {43'200, 320'000}};
  const MarketFacts facts = describe(series, test::catalog(), 0, kDay / 2);
  ASSERT_EQ(facts.orders.size(), 1U);
  EXPECT_EQ(facts.orders[0].changes, 1U);
  EXPECT_DOUBLE_EQ(facts.orders[0].per_day, 2);
  EXPECT_THAT(line_with(facts_table(facts), "2.0 times"), IsGolden());
}

TEST(Describe, ComparesCheapestZonesWhereThereAreSeveral) {
  SeriesMap series;
  series[{"m4.large", "a"}] = {{0, 20'000}};
  // The last change is between the zones of a size.
  series[{"m4.4xlarge", "a"}] = {{0, 200'000}, {300, 164'000}};
  series[{"m4.4xlarge", "b"}] = {{0, 200'000}, {50, 80'000}, {200, 168'000}};
  const MarketFacts facts = describe(series, test::catalog(), 0, kDay);
  ASSERT_EQ(facts.orders.size(), 4U);
  EXPECT_EQ(facts.orders[0].changes, 0U);
  EXPECT_EQ(facts.orders[1].changes, 0U);
  EXPECT_EQ(facts.orders[2].of, OrderOf::cheapest_zone);
  EXPECT_EQ(facts.orders[2].changes, 2U);
  EXPECT_EQ(facts.orders[2].first, 2U);
  EXPECT_EQ(facts.orders[3].of, OrderOf::offerings);
  EXPECT_EQ(facts.orders[3].changes, 3U);
  EXPECT_THAT(line_with(facts_table(facts), "3.0 times"), IsGolden());
}

}  // namespace
}  // namespace muster::market
