#include "tools/market/generate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "config/price_series_file.hpp"
#include "tests/support/temp_file.hpp"
#include "tests/tools/market/market_support.hpp"
#include "tools/market/describe.hpp"

namespace muster::market {
namespace {

using testing::HasSubstr;

WeekStats small_week() {
  return {.end = *parse_day("2017-08-12"),
          .min_usd = 0.0243,
          .max_usd = 0.0446,
          .mean_usd = 0.026659,
          .variance = 1.6e-5,
          .over = 0,
          .ticks = 3000};
}

WeeklyStats stats() {
  return {{{"m4.4xlarge", "a"}, {test::calm_week(), test::spiky_week()}},
          {{"m4.4xlarge", "b"}, {test::spiky_week()}},
          {{"m4.large", "a"}, {small_week()}}};
}

GeneratedMarket market(std::uint64_t seed, double size_correlation = 0.3) {
  auto made = generate(stats(), test::shape(size_correlation), test::catalog(),
                       {*parse_day("2017-07-03"), *parse_day("2017-08-14"), seed});
  MUSTER_CHECK(made.has_value(), "the market can be made");
  return std::move(made).value();
}

TEST(Generate, GivesEachWeekTheStatisticsOfItsSnapshot) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const FittedWeek& week : market(seed).weeks) {
      EXPECT_EQ(week.got.ticks, week.asked.ticks);
      EXPECT_EQ(week.got.over, week.asked.over);
      EXPECT_NEAR(week.got.min_usd, week.asked.min_usd, 0.00005001);
      EXPECT_NEAR(week.got.max_usd, week.asked.max_usd, 0.00005001);
      EXPECT_NEAR(week.got.mean_usd, week.asked.mean_usd, 0.0001);
      EXPECT_NEAR(week.got.variance, week.asked.variance, 0.05 * week.asked.variance + 1e-6);
    }
  }
}

TEST(Generate, GivesTheSameMarketForTheSameSeedAndAnotherForAnother) {
  EXPECT_EQ(market(7).series, market(7).series);
  EXPECT_NE(market(7).series, market(8).series);
}

TEST(Generate, LeavesASeriesAsItIsWhenOthersComeOrGo) {
  WeeklyStats fewer = stats();
  fewer.erase({"m4.large", "a"});
  const auto made = generate(fewer, test::shape(0.3), test::catalog(),
                             {*parse_day("2017-07-03"), *parse_day("2017-08-14"), 7});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->series.at({"m4.4xlarge", "a"}), market(7).series.at({"m4.4xlarge", "a"}));
}

TEST(Generate, GivesRisingTimesAndWholePositiveQuanta) {
  for (const auto& [key, ticks] : market(3).series) {
    EXPECT_EQ(ticks.front().at, *parse_day("2017-07-03"));
    EXPECT_LT(ticks.back().at, *parse_day("2017-08-14"));
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      EXPECT_GT(ticks[i].price, 0);
      EXPECT_EQ(ticks[i].price % kQuantum, 0);
      if (i > 0) {
        EXPECT_GT(ticks[i].at, ticks[i - 1].at);
      }
    }
  }
}

std::vector<double> hourly(const std::vector<Tick>& ticks) {
  std::vector<double> prices;
  std::size_t at = 0;
  for (Seconds hour = ticks.front().at; hour < *parse_day("2017-08-14"); hour += 3600) {
    while (at + 1 < ticks.size() && ticks[at + 1].at <= hour) ++at;
    prices.push_back(static_cast<double>(ticks[at].price));
  }
  return prices;
}

double correlation_of_sizes(double asked) {
  // Calm weeks: spikes and excursions have times of their own.
  const WeeklyStats calm{{{"m4.4xlarge", "a"}, {test::calm_week()}},
                         {{"m4.large", "a"}, {small_week()}}};
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto made = generate(calm, test::shape(asked), test::catalog(),
                               {*parse_day("2017-07-03"), *parse_day("2017-08-14"), seed});
    const SeriesMap& series = made->series;
    sum += rank_correlation(hourly(series.at({"m4.4xlarge", "a"})),
                            hourly(series.at({"m4.large", "a"})));
  }
  return sum / 6;
}

TEST(Generate, LetsSizesInAZoneRiseAndFallTogetherAsMuchAsAsked) {
  const double apart = correlation_of_sizes(0);
  const double together = correlation_of_sizes(0.8);
  EXPECT_NEAR(apart, 0, 0.15);
  EXPECT_GT(together, apart + 0.3);
}

TEST(Generate, MakesWeeksThatAreMostlyOrAllSpikes) {
  for (const std::uint32_t over : {80U, 97U, 100U}) {
    // All of m4.16xlarge in us-east-1c was at ten times the on-demand price in one week of 2017.
    WeekStats week = small_week();
    week.min_usd = over == 100 ? 1 : 0.0243;
    week.max_usd = 1;
    week.over = over;
    week.ticks = 100;
    const double share = over / 100.0;
    week.mean_usd = over == 100 ? 1 : 0.95 * share + 0.05 * (1 - share);
    week.variance = 0.9 * 0.9 * share * (1 - share);
    const auto made = generate({{{"m4.large", "a"}, {week}}}, test::shape(), test::catalog(),
                               {*parse_day("2017-07-03"), *parse_day("2017-08-14"), 1});
    ASSERT_TRUE(made);
    for (const FittedWeek& fitted : made->weeks) {
      EXPECT_EQ(fitted.got.ticks, 100U);
      EXPECT_EQ(fitted.got.over, over);
      EXPECT_NEAR(fitted.got.mean_usd, week.mean_usd, 0.02);
    }
  }
}

TEST(Generate, KnowsNoTypeThatTheCatalogDoesNotHave) {
  WeeklyStats unknown = stats();
  unknown[{"m4.huge", "a"}] = {small_week()};
  const auto made = generate(unknown, test::shape(), test::catalog(), {0, kWeek, 1});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("m4.huge"));
}

TEST(Generate, ComesBackFromTheFileThatTheCloudReads) {
  const SeriesMap series = market(2).series;
  std::ostringstream out;
  write_prices(series, *parse_day("2017-07-03"), out);
  const muster::test::TempFile file("p.csv", out.str());
  const auto prices = load_price_series(file.path(), test::catalog());
  ASSERT_TRUE(prices) << prices.error().message;
  SeriesMap expected = series;
  for (auto& [key, ticks] : expected) {
    for (Tick& tick : ticks) tick.at -= *parse_day("2017-07-03");
  }
  EXPECT_EQ(spot_series(prices.value()), expected);
}

TEST(Variants, OfOneZoneTheCheapestZoneAndCappedPrices) {
  SeriesMap series;
  series[{"m4.4xlarge", "a"}] = {{0, 300'000}, {10, 900'000}, {20, 310'000}};
  series[{"m4.4xlarge", "b"}] = {{0, 350'000}, {15, 320'000}, {20, 330'000}};
  EXPECT_EQ(one_zone(series, "b").size(), 1U);
  EXPECT_EQ(cheapest_zone(series).at({"m4.4xlarge", ""}),
            (std::vector<Tick>{{0, 300'000}, {10, 350'000}, {15, 320'000}, {20, 310'000}}));
  EXPECT_EQ(capped_at_on_demand(series, test::catalog()).at({"m4.4xlarge", "a"}),
            (std::vector<Tick>{{0, 300'000}, {10, 800'000}, {20, 310'000}}));
}

TEST(TickShape, NeedsASeriesThatIsLongEnough) {
  SeriesMap series;
  series[{"m4.large", "a"}] = {{0, 1}, {1, 2}};
  EXPECT_FALSE(shape_of(series, test::catalog()));
}

TEST(TickShape, MeasuresGapsAndSpikes) {
  SeriesMap series;
  std::vector<Tick>& ticks = series[{"m4.large", "a"}];
  Seconds at = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool spike = i % 100 >= 98;
    ticks.push_back({at, spike ? 200'000 : 25'000 + 100 * (i % 7)});
    at += spike ? 300 : 100;
  }
  const auto shape = shape_of(series, test::catalog());
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->spikes, std::vector<std::uint32_t>(10, 2));
  EXPECT_NEAR(shape->spike_gap, 3, 1e-9);
  EXPECT_EQ(shape->size_correlation, 0);
}

}  // namespace
}  // namespace muster::market
