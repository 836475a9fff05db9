#include "tools/market/week_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/tools/market/market_support.hpp"
#include "tools/market/generate.hpp"

namespace muster::market {
namespace {

/// The statistics of the values, as of ticks a second apart.
WeekStats measured(const WeekValues& values, double on_demand) {
  std::vector<Tick> ticks;
  for (const auto* part : {&values.body, &values.excursions, &values.spikes}) {
    for (const std::int64_t price : *part) {
      ticks.push_back({static_cast<Seconds>(ticks.size()), price * kQuantum});
    }
  }
  return measure_week(ticks, kWeek, on_demand);
}

void expect_near(const WeekStats& got, const WeekStats& asked) {
  EXPECT_EQ(got.ticks, asked.ticks);
  EXPECT_EQ(got.over, asked.over);
  EXPECT_NEAR(got.min_usd, asked.min_usd, 0.00005001);
  EXPECT_NEAR(got.max_usd, asked.max_usd, 0.00005001);
  EXPECT_NEAR(got.mean_usd, asked.mean_usd, 0.0001);
  EXPECT_NEAR(got.variance, asked.variance, 0.05 * asked.variance + 1e-6);
}

TEST(WeekValues, OfAWeekWithSpikesHaveItsStatistics) {
  expect_near(measured(week_values(test::spiky_week(), 0.8), 0.8), test::spiky_week());
}

TEST(WeekValues, OfACalmWeekHaveItsStatistics) {
  expect_near(measured(week_values(test::calm_week(), 0.8), 0.8), test::calm_week());
}

TEST(WeekValues, OfAWeekThatIsMostlySpikesInVarianceHaveItsStatistics) {
  const WeekStats asked{.end = 0,
                        .min_usd = 0.3144,
                        .max_usd = 25.2,
                        .mean_usd = 2.12454,
                        .variance = 38.829062,
                        .over = 14,
                        .ticks = 206};
  const WeekStats got = measured(week_values(asked, 2), 2);
  EXPECT_EQ(got.over, 14U);
  EXPECT_EQ(got.ticks, 206U);
  EXPECT_NEAR(got.mean_usd, asked.mean_usd, 0.0001);
  EXPECT_NEAR(got.variance, asked.variance, 0.05 * asked.variance);
}

TEST(WeekValues, OfAWeekWithOnePriceAreThatPrice) {
  const WeekStats asked{.end = 0,
                        .min_usd = 0.0226,
                        .max_usd = 0.0226,
                        .mean_usd = 0.0226,
                        .variance = 0,
                        .over = 0,
                        .ticks = 14};
  expect_near(measured(week_values(asked, 0.1), 0.1), asked);
}

TEST(WeekValues, OfASingleTickAreTheTick) {
  const WeekStats asked{.end = 0,
                        .min_usd = 0.5,
                        .max_usd = 0.5,
                        .mean_usd = 0.5,
                        .variance = 0,
                        .over = 1,
                        .ticks = 1};
  expect_near(measured(week_values(asked, 0.4), 0.4), asked);
}

TEST(WeekValues, KeepTheBodyBelowTheOnDemandPriceAndSpikesAtOrOverIt) {
  const WeekValues values = week_values(test::spiky_week(), 0.8);
  EXPECT_LT(values.body.back(), 8000);
  EXPECT_GE(*std::min_element(values.spikes.begin(), values.spikes.end()), 8000);
}

}  // namespace
}  // namespace muster::market
