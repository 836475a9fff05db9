#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/price_series_file.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::IsGoldenAt;
using testing::HasSubstr;

Catalog catalog() {
  InstanceType d2;
  d2.name = "d2.xlarge";
  d2.capacity = Resources::of(0, 4, 30.5);
  d2.on_demand = Price::from_usd_h(0.69);
  InstanceType big = d2;
  big.name = "big";
  d2.spot = Price::from_usd_h(0.1);
  return Catalog({d2, big});
}

std::string error_of(const std::string& rows) {
  const test::TempFile file("p.csv",
                            "time_s,type,market,zone,price_usd_h,available,revoke\n" + rows);
  return test::message_of(load_price_series(file.path(), catalog()), ConfigError::invalid);
}

TEST(PriceSeries, ReadsPricesOfTheSpotMarketOf2016) {
  const auto series =
      load_price_series(test::source_dir() / "tests/data/d2-spot-2016-04-21.csv", catalog());
  ASSERT_TRUE(series) << series.error().message;
  ASSERT_EQ(series->steps.size(), 60U);
  EXPECT_EQ(series->steps[1].offering,
            (Offering{"d2.xlarge", Market::spot, "c", Price::from_usd_h(0.0788)}));
  EXPECT_EQ(series->steps[2].at, std::chrono::seconds{22});
}

TEST(PriceSeries, OfRowsWithOneTimeTheLaterOnesComeLater) {
  const test::TempFile file("p.csv",
                            "time_s,type,market,zone,price_usd_h,available,revoke\n"
                            "5,d2.xlarge,spot,,0.2,1,\n0,d2.xlarge,on-demand,a,0.5,0,0\n"
                            "5,d2.xlarge,spot,,0.3,0,1\n");
  const auto series = load_price_series(file.path(), catalog());
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_FALSE(series->steps[0].offering.available);
  EXPECT_EQ(series->steps[1].offering.price, Price::from_usd_h(0.2));
  EXPECT_EQ(series->steps[2].offering.price, Price::from_usd_h(0.3));
  EXPECT_TRUE(series->steps[2].revoke);
}

PricePoint step(int at_s, const std::string& zone, double usd_h, bool revoke = false) {
  return {std::chrono::seconds{at_s},
          {"d2.xlarge", Market::spot, zone, Price::from_usd_h(usd_h)},
          revoke};
}

TEST(PriceSeries, BeginsLaterWithWhatHoldsThen) {
  const PriceSeries series{
      {step(0, "a", 1), step(0, "b", 2), step(10, "a", 3, true), step(20, "b", 4, true)}};
  const PriceSeries later = begun_at(series, std::chrono::seconds{15});
  ASSERT_EQ(later.steps.size(), 3U);
  EXPECT_EQ(later.steps[0].offering, step(0, "a", 3).offering);
  EXPECT_FALSE(later.steps[0].revoke) << "nothing is rented yet that it could take back";
  EXPECT_EQ(later.steps[1].offering, step(0, "b", 2).offering);
  EXPECT_EQ(later.steps[2].at, std::chrono::seconds{5});
  EXPECT_TRUE(later.steps[2].revoke);
  EXPECT_EQ(begun_at(series, {}).steps.size(), 4U);
}

TEST(PriceSeries, SaysWhereARowIsWrong) {
  EXPECT_THAT(error_of("0,c9,spot,,1,1,\n"), IsGoldenAt("p.csv:2: type"));
  EXPECT_THAT(error_of("0,big,spot,,1,1,\n"), IsGoldenAt("market"));
  EXPECT_THAT(error_of("0,big,sopt,,1,1,\n"), IsGolden());
  EXPECT_THAT(error_of("0,big,on-demand,,-1,1,\n"), HasSubstr("price_usd_h: has to be"));
  EXPECT_THAT(error_of("0,big,on-demand,,1,yes,\n"), IsGoldenAt("available"));
  EXPECT_THAT(error_of("0,big,on-demand,a,1,1,\n0,d2.xlarge,spot,,1,1,\n5,big,on-demand,,1,1,\n"),
              IsGoldenAt("p.csv:4: zone"));
  EXPECT_THAT(error_of("0,big,on-demand,,1,1,1\n"), HasSubstr("only spot instances"));
  EXPECT_THAT(error_of("-1,big,on-demand,,1,1,\n"), HasSubstr("time_s: has to be"));
  EXPECT_THAT(error_of(""), HasSubstr("has no rows"));
}

}  // namespace
}  // namespace muster
