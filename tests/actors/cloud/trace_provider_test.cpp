#include "actors/cloud/trace_provider.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "actors/cloud/providers.hpp"
#include "tests/actors/cloud/cloud_desk.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

// What holds for clouds whose prices are those of a series; what holds for all clouds is in
// cloud_provider_test.cpp.

namespace muster {
namespace {

using test::at_s;
using test::Desk;
using test::IsGolden;
using test::QuickMachines;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = ProviderNewsKind;

class TraceTest : public ::testing::Test {
 protected:
  void begin(std::vector<PricePoint> steps, double period_s = 0, double at = 0) {
    begin_at(at, {{std::move(steps)}, from_seconds(period_s)});
  }
  void begin_at(double s, const TraceOptions& trace) {
    begin_with(s, [&](LoopbackOptions options) {
      return std::make_unique<TraceProvider>(std::move(options), trace);
    });
  }
  void begin_with(double s, const ProviderMaker& make) {
    LoopbackOptions options;
    options.catalog = &catalog_;
    options.machines = &machines_;
    desk_ = std::make_shared<Desk>();
    desk_->run_until_s(s);
    provider_ = make(std::move(options));
    provider_->watch(desk_, {});
  }
  static PricePoint step(double s, const std::string& zone, double usd_h, bool available = true) {
    return {from_seconds(s), {"it3", Market::spot, zone, Price::from_usd_h(usd_h), available}};
  }
  LaunchResult launch(std::uint64_t id, const std::string& zone, double most_usd_h = 0) {
    RentedRecord order;
    order.instance = InstanceId{id};
    order.type = "it3";
    order.market = Market::spot;
    order.zone = zone;
    order.max_price = Price::from_usd_h(most_usd_h);
    order.ordered_at = desk_->now();
    LaunchResult result = LaunchResult::failed;
    provider_->launch(order, [&](const LaunchAnswer& answer) { result = answer.result; });
    return result;
  }
  double price_of(const std::string& zone) const {
    for (const Offering& offering : provider_->offerings()) {
      if (offering.market == Market::spot && offering.zone == zone) return offering.price.usd_h();
    }
    return -1;
  }

  Catalog catalog_ = test::it3_on_both_markets();
  QuickMachines machines_;
  std::shared_ptr<Desk> desk_;
  std::unique_ptr<CloudProvider> provider_;
};

TEST_F(TraceTest, ASpotInstanceIsTakenBackWhenItCostsMoreThanItsOrderAllows) {
  begin({step(0, "", 0.1), step(300, "", 0.5)});
  EXPECT_EQ(launch(1, "", 0.2), LaunchResult::granted);
  EXPECT_EQ(launch(2, "", 1), LaunchResult::granted);
  EXPECT_EQ(launch(3, "", 0.05), LaunchResult::price);
  desk_->run_until_s(500);
  EXPECT_THAT(desk_->kinds_of(1),
              ElementsAre(Kind::up, Kind::machine, Kind::notice, Kind::ending, Kind::gone));
  EXPECT_EQ(desk_->heard.back().reason, CloudReason::price);
  EXPECT_THAT(desk_->kinds_of(2), ElementsAre(Kind::up, Kind::machine));
}

TEST_F(TraceTest, OneWhosePriceRoseBeforeItCameUpIsTakenBackAtOnce) {
  begin({step(0, "", 0.1), step(5, "", 0.5)});
  launch(1, "", 0.2);
  desk_->run_until_s(20);
  EXPECT_THAT(desk_->kinds_of(1), ElementsAre(Kind::up, Kind::notice));
}

TEST_F(TraceTest, ARevocationTakesBackAllSpotInstancesOfItsZone) {
  PricePoint revoked = step(300, "a", 0.1, false);
  revoked.revoke = true;
  begin({step(0, "a", 0.1), step(0, "b", 0.2), revoked});
  launch(1, "a");
  launch(2, "b");
  launch(3, "");
  desk_->run_until_s(301);
  EXPECT_THAT(desk_->kinds_of(1), ElementsAre(Kind::up, Kind::machine, Kind::notice));
  EXPECT_THAT(desk_->kinds_of(2), ElementsAre(Kind::up, Kind::machine));
  EXPECT_THAT(desk_->kinds_of(3), ElementsAre(Kind::up, Kind::machine)) << "zone b is left";
  EXPECT_EQ(launch(4, "a"), LaunchResult::capacity);
  EXPECT_EQ(launch(5, "c"), LaunchResult::capacity) << "there is no such zone";
}

TEST_F(TraceTest, WhicheverZoneCostsWhatTheCheapestOneDoes) {
  begin({step(0, "a", 0.1), step(0, "b", 0.2), step(10, "a", 0.3), step(20, "b", 0.1, false)});
  EXPECT_EQ(price_of(""), 0.1);
  desk_->run_until_s(10);
  EXPECT_EQ(price_of(""), 0.2);
  desk_->run_until_s(20);
  EXPECT_EQ(price_of(""), 0.3) << "zone b has none";
  EXPECT_EQ(price_of("b"), 0.1);
}

TEST_F(TraceTest, SpotOfferingsOfASeriesCarryTheInterruptionsByChance) {
  const TraceOptions trace{{{step(0, "a", 0.1), step(20, "a", 0.5)}}, {}};
  begin_with(0, [&](LoopbackOptions options) {
    options.interruptions.per_h = 0.5;
    return std::make_unique<TraceProvider>(std::move(options), trace);
  });
  for (const Offering& offering : provider_->offerings()) {
    EXPECT_EQ(offering.interruptions_h, offering.market == Market::spot ? 0.5 : 0) << offering.zone;
  }
  desk_->run_until_s(20);
  ASSERT_FALSE(desk_->heard.empty());
  for (const ProviderNews& news : desk_->heard) EXPECT_EQ(news.offering.interruptions_h, 0.5);
}

TEST_F(TraceTest, ASeriesBeginsAnewAfterItsPeriodWhereverItIsStarted) {
  const std::vector<PricePoint> steps = {step(10, "", 0.1), step(60, "", 0.5)};
  begin(steps, 100, 205);
  EXPECT_EQ(price_of(""), 0.5) << "what the round before left";
  desk_->run_until_s(210);
  EXPECT_EQ(price_of(""), 0.1);
  desk_->run_until_s(399);
  EXPECT_EQ(price_of(""), 0.5);
  desk_->run_until_s(410);
  EXPECT_EQ(price_of(""), 0.1);
}

TEST_F(TraceTest, ASeriesBeginsAtItsStartWheneverItsProviderDoes) {
  const TraceOptions trace{{{step(0, "", 0.1), step(60, "", 0.5)}}, {}, at_s(1000)};
  begin_at(900, trace);
  EXPECT_EQ(price_of(""), 0.1) << "before its start it is as at its beginning";
  begin_at(1030, trace);
  EXPECT_EQ(price_of(""), 0.1);
  desk_->run_until_s(1060);
  EXPECT_EQ(price_of(""), 0.5);
  begin_at(1060, trace);
  EXPECT_EQ(price_of(""), 0.5) << "one that is started anew goes on";
}

TEST_F(TraceTest, RoundsOfASeriesAreCountedFromItsStart) {
  const std::vector<PricePoint> steps = {step(10, "", 0.1), step(60, "", 0.5)};
  begin_at(1205, {{steps}, from_seconds(100), at_s(1000)});
  EXPECT_EQ(price_of(""), 0.5);
  desk_->run_until_s(1210);
  EXPECT_EQ(price_of(""), 0.1);
}

TEST_F(TraceTest, NewsOfAPriceSayWhenItChanged) {
  begin({step(10, "b", 0.1), step(20, "a", 0.2), step(30, "b", 0.3), step(40, "a", 0.2)});
  desk_->sleep_until_s(50);
  std::vector<std::pair<std::string, Instant>> told;
  for (const ProviderNews& news : desk_->heard) {
    told.emplace_back(news.offering.zone, news.at.value_or(Instant{}));
  }
  using testing::Pair;
  EXPECT_THAT(told, ElementsAre(Pair("a", at_s(20)), Pair("", at_s(30)), Pair("b", at_s(30))));
}

TEST_F(TraceTest, ABeginningBehindTheEndOfTheSeriesIsAnError) {
  const test::TempFile file("p.csv",
                            "time_s,type,market,zone,price_usd_h,available\n"
                            "0,it3,spot,,0.1,1\n600,it3,spot,,0.5,1\n");
  CloudConfig config;
  config.provider = "trace";
  auto& settings = config.own.of<TraceCloudSettings>();
  settings = {.prices = file.path(), .from = from_seconds(600)};
  EXPECT_TRUE(load_provider(config, catalog_)) << "the last row holds from then on";
  settings.from = from_seconds(601);
  const auto late = load_provider(config, catalog_);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ConfigError::invalid);
  EXPECT_THAT(late.error().message,
              AllOf(HasSubstr("cloud.prices_from (601s)"), HasSubstr("10min"), IsGolden()));
}

TEST_F(TraceTest, OfASeriesThatIsSpedUpSoManySecondsPassInOne) {
  const test::TempFile file("p.csv",
                            "time_s,type,market,zone,price_usd_h,available\n"
                            "0,it3,spot,,0.1,1\n600,it3,spot,,0.5,1\n900,it3,spot,,0.2,1\n");
  CloudConfig config;
  config.provider = "trace";
  auto& settings = config.own.of<TraceCloudSettings>();
  settings.prices = file.path();
  settings.speed = 60;
  settings.start = at_s(1000).time_since_epoch();
  settings.period = from_seconds(1200);
  const auto make = load_provider(config, catalog_);
  ASSERT_TRUE(make) << make.error().message;
  begin_with(1000, [&](LoopbackOptions options) { return make.value()(std::move(options)); });
  EXPECT_EQ(price_of(""), 0.1);
  desk_->run_until_s(1009.9);
  EXPECT_EQ(price_of(""), 0.1);
  desk_->run_until_s(1010);
  EXPECT_EQ(price_of(""), 0.5);
  desk_->run_until_s(1015);
  EXPECT_EQ(price_of(""), 0.2);
  desk_->run_until_s(1020);
  EXPECT_EQ(price_of(""), 0.1) << "it begins anew by its own times";
}

}  // namespace
}  // namespace muster
