#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "actors/cloud/loopback_provider.hpp"
#include "actors/cloud/providers.hpp"
#include "actors/cloud/trace_provider.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/scripted_cloud.hpp"
#include "tests/support/temp_file.hpp"

// What holds for every cloud provider. Whoever adds one adds it to `Providers`, with a world around
// it that can run out of instances.

namespace muster {
namespace {

using test::at_s;
using testing::ElementsAre;
using Kind = ProviderNewsKind;

/// A connector that has everything on record at once, and a clock that a test turns.
class Desk final : public CloudHost {
 public:
  Instant now() const override { return now_; }
  void at(Instant when, std::function<void()> step) override {
    steps_.emplace(std::max(when, now_), std::move(step));
  }
  void run(std::function<void()> step) override { step(); }
  void tell(ProviderNews news) override {
    heard.push_back(news);
    const Instant at = news.at.value_or(now_);
    if (news.recorded) news.recorded(at);
  }
  void run_until_s(double s) {
    while (!steps_.empty() && steps_.begin()->first <= at_s(s)) {
      auto step = steps_.extract(steps_.begin());
      now_ = std::max(now_, step.key());
      step.mapped()();
    }
    now_ = at_s(s);
  }
  /// What is due meanwhile comes at the end of that time.
  void sleep_until_s(double s) {
    now_ = at_s(s);
    run_until_s(s);
  }
  std::vector<Kind> kinds_of(std::uint64_t id) const {
    std::vector<Kind> kinds;
    for (const ProviderNews& news : heard) {
      if (news.instance == InstanceId{id} && news.kind != Kind::note) kinds.push_back(news.kind);
    }
    return kinds;
  }

  std::vector<ProviderNews> heard;

 private:
  Instant now_;
  std::multimap<Instant, std::function<void()>> steps_;
};

/// Machines that are there at once and end at once.
class QuickMachines final : public MachineBackend {
 public:
  Expected<std::string, MachineError> boot(const MachineOrder& order) override {
    running.insert(order.instance);
    return std::string("machine");
  }
  bool halt(InstanceId id, const std::string&, Duration, std::function<void()>) override {
    running.erase(id);
    return true;
  }
  bool adopt(const RentedRecord& record) override { return running.contains(record.instance); }
  bool has_room(std::size_t) const override { return room; }

  std::set<InstanceId> running;
  bool room = true;
};

/// One type, "it3", on both markets: up after 10 s, ready after 100 s, gone after 1 s.
Catalog catalog() {
  std::vector<InstanceType> types = {test::table3_catalog().types()[2]};
  types[0].spot = Price::from_usd_h(0.08);
  return Catalog(std::move(types));
}

class LoopbackWorld {
 public:
  std::unique_ptr<CloudProvider> make() {
    return std::make_unique<LoopbackProvider>(machine_options());
  }
  void run_out() { machines_.room = false; }
  /// Whether prices change, by themselves, at 500 s.
  static constexpr bool kPricesChange = false;
  static constexpr bool kInterrupts = true;

 protected:
  LoopbackOptions machine_options() {
    LoopbackOptions options;
    options.catalog = &catalog_;
    options.machines = &machines_;
    return options;
  }
  Catalog catalog_ = catalog();
  QuickMachines machines_;
};

class TraceWorld : public LoopbackWorld {
 public:
  std::unique_ptr<CloudProvider> make() {
    PricePoint dear{at_s(500).time_since_epoch(),
                    {"it3", Market::on_demand, {}, Price::from_usd_h(1.5)}};
    return std::make_unique<TraceProvider>(machine_options(), TraceOptions{{{dear}}, {}});
  }
  static constexpr bool kPricesChange = true;
};

/// One that remembers by itself, as a cloud does that is somewhere else.
class RemoteWorld {
 public:
  class Handle final : public CloudProvider {
   public:
    explicit Handle(test::ScriptedCloud& cloud) : cloud_(cloud) {}
    void watch(std::shared_ptr<CloudHost> host, const std::vector<RentedRecord>& r) override {
      host->at(at_s(500), [this] {
        cloud_.change({"it3", Market::on_demand, {}, Price::from_usd_h(1.5)});
      });
      cloud_.watch(std::move(host), r);
    }
    void unwatch() override { cloud_.unwatch(); }
    std::vector<Offering> offerings() const override { return cloud_.offerings(); }
    void launch(const RentedRecord& order, std::function<void(LaunchAnswer)> done) override {
      cloud_.launch(order, std::move(done));
    }
    void terminate(InstanceId id, std::function<void(EndResult)> done) override {
      cloud_.terminate(id, std::move(done));
    }
    void list(std::function<void(FoundInstances)> done) override { cloud_.list(std::move(done)); }

   private:
    test::ScriptedCloud& cloud_;
  };
  std::unique_ptr<CloudProvider> make() { return std::make_unique<Handle>(cloud_); }
  void run_out() { cloud_.answers = {{LaunchResult::capacity, "none left"}}; }
  static constexpr bool kPricesChange = true;
  static constexpr bool kInterrupts = false;

 private:
  Catalog catalog_ = catalog();
  test::ScriptedCloud cloud_{catalog_};
};

template <class World>
class CloudProviderSuite : public ::testing::Test {
 protected:
  void begin(const std::vector<RentedRecord>& rented = {}) {
    desk_ = std::make_shared<Desk>();
    provider_ = world_.make();
    provider_->watch(desk_, rented);
  }
  /// The connector and all that it knew besides its book go; a new one begins at that time.
  void begin_anew(const std::vector<RentedRecord>& rented) {
    const double now_s = to_seconds(desk_->now());
    provider_->unwatch();
    desk_ = std::make_shared<Desk>();
    desk_->run_until_s(now_s);
    provider_ = world_.make();
    provider_->watch(desk_, rented);
  }
  RentedRecord order(std::uint64_t id, Market market = Market::on_demand) const {
    RentedRecord record;
    record.instance = InstanceId{id};
    record.type = "it3";
    record.market = market;
    record.ordered_at = desk_->now();
    return record;
  }
  LaunchAnswer launch(const RentedRecord& order) {
    std::optional<LaunchAnswer> answer;
    provider_->launch(order, [&](LaunchAnswer got) { answer = std::move(got); });
    EXPECT_TRUE(answer.has_value());
    return answer.value_or(LaunchAnswer{});
  }
  EndResult terminate(std::uint64_t id) {
    std::optional<EndResult> result;
    provider_->terminate(InstanceId{id}, [&](EndResult got) { result = got; });
    EXPECT_TRUE(result.has_value());
    return result.value_or(EndResult::failed);
  }
  std::vector<InstanceId> listed() {
    FoundInstances found;
    provider_->list([&](FoundInstances got) { found = std::move(got); });
    EXPECT_TRUE(found.complete);
    return found.instances;
  }
  std::optional<Instant> up_at(std::uint64_t id) const {
    for (const ProviderNews& news : desk_->heard) {
      if (news.instance == InstanceId{id} && news.kind == Kind::up) return desk_->now();
    }
    return std::nullopt;
  }

  World world_;
  std::shared_ptr<Desk> desk_;
  std::unique_ptr<CloudProvider> provider_;
};

using Providers = ::testing::Types<LoopbackWorld, TraceWorld, RemoteWorld>;
TYPED_TEST_SUITE(CloudProviderSuite, Providers);

TYPED_TEST(CloudProviderSuite, AnInstanceIsUpOnceAndGoneOnce) {
  this->begin();
  EXPECT_EQ(this->launch(this->order(1)).result, LaunchResult::granted);
  this->desk_->run_until_s(200);
  EXPECT_EQ(this->terminate(1), EndResult::accepted);
  this->desk_->run_until_s(300);
  const std::vector<Kind> kinds = this->desk_->kinds_of(1);
  EXPECT_EQ(kinds.front(), Kind::up);
  EXPECT_EQ(kinds.back(), Kind::gone);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), Kind::up), 1);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), Kind::gone), 1);
}

TYPED_TEST(CloudProviderSuite, LaunchingTwiceIsLaunchingOnce) {
  this->begin();
  const RentedRecord order = this->order(1);
  EXPECT_EQ(this->launch(order).result, LaunchResult::granted);
  EXPECT_EQ(this->launch(order).result, LaunchResult::granted);
  this->desk_->run_until_s(200);
  EXPECT_EQ(this->launch(order).result, LaunchResult::granted);
  EXPECT_THAT(this->listed(), ElementsAre(InstanceId{1}));
  const std::vector<Kind> kinds = this->desk_->kinds_of(1);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), Kind::up), 1);
}

TYPED_TEST(CloudProviderSuite, EndingTwiceIsEndingOnce) {
  this->begin();
  this->launch(this->order(1));
  this->desk_->run_until_s(200);
  EXPECT_EQ(this->terminate(1), EndResult::accepted);
  EXPECT_NE(this->terminate(1), EndResult::failed);
  this->desk_->run_until_s(300);
  const std::vector<Kind> kinds = this->desk_->kinds_of(1);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), Kind::gone), 1);
  EXPECT_EQ(this->terminate(1), EndResult::absent);
  EXPECT_TRUE(this->listed().empty());
}

TYPED_TEST(CloudProviderSuite, WhatNobodyLaunchedIsAbsent) {
  this->begin();
  EXPECT_EQ(this->terminate(9), EndResult::absent);
}

TYPED_TEST(CloudProviderSuite, ALostAnswerIsFoundAgainByList) {
  this->begin();
  this->provider_->launch(this->order(1), [](const LaunchAnswer&) {});
  EXPECT_THAT(this->listed(), ElementsAre(InstanceId{1}));
}

TYPED_TEST(CloudProviderSuite, ARefusalSaysWhy) {
  this->begin();
  this->world_.run_out();
  const LaunchAnswer answer = this->launch(this->order(1));
  EXPECT_EQ(answer.result, LaunchResult::capacity);
  EXPECT_FALSE(answer.text.empty());
  EXPECT_TRUE(this->listed().empty());
}

TYPED_TEST(CloudProviderSuite, ItsOfferingsAreWhatTheCatalogSaysAtFirst) {
  this->begin();
  const std::vector<Offering> all = this->provider_->offerings();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0], (Offering{"it3", Market::on_demand, {}, Price::from_usd_h(0.8)}));
  EXPECT_EQ(all[1], (Offering{"it3", Market::spot, {}, Price::from_usd_h(0.08)}));
}

TYPED_TEST(CloudProviderSuite, AChangeOfAnOfferingIsTold) {
  this->begin();
  this->desk_->run_until_s(499);
  EXPECT_TRUE(this->desk_->heard.empty());
  this->desk_->run_until_s(600);
  if (!TypeParam::kPricesChange) return;
  ASSERT_EQ(this->desk_->heard.size(), 1U);
  EXPECT_EQ(this->desk_->heard[0].kind, Kind::offering);
  EXPECT_EQ(this->desk_->heard[0].offering.price, Price::from_usd_h(1.5));
  const std::vector<Offering> all = this->provider_->offerings();
  EXPECT_NE(std::find(all.begin(), all.end(), this->desk_->heard[0].offering), all.end());
}

TYPED_TEST(CloudProviderSuite, ANoticePrecedesTheEnd) {
  this->begin();
  this->launch(this->order(1, Market::spot));
  this->launch(this->order(2));
  this->desk_->run_until_s(200);
  EXPECT_FALSE(this->provider_->interrupt(InstanceId{2})) << "it is no spot instance";
  EXPECT_EQ(this->provider_->interrupt(InstanceId{1}), TypeParam::kInterrupts);
  if (!TypeParam::kInterrupts) return;
  this->desk_->run_until_s(400);
  const std::vector<Kind> kinds = this->desk_->kinds_of(1);
  EXPECT_THAT(kinds, ElementsAre(Kind::up, Kind::machine, Kind::notice, Kind::ending, Kind::gone));
  EXPECT_EQ(this->desk_->heard.back().reason, CloudReason::reclaimed);
}

TYPED_TEST(CloudProviderSuite, AProviderThatIsStartedAnewKeepsWhatIsRented) {
  this->begin();
  RentedRecord record = this->order(1);
  this->launch(record);
  this->desk_->run_until_s(200);
  record.up_at = at_s(10);
  record.machine = "machine";
  this->begin_anew({record});
  EXPECT_THAT(this->listed(), ElementsAre(InstanceId{1}));
  this->desk_->run_until_s(300);
  const std::vector<Kind> kinds = this->desk_->kinds_of(1);
  EXPECT_TRUE(kinds.empty()) << "nothing has happened to it";
  EXPECT_EQ(this->terminate(1), EndResult::accepted);
  this->desk_->run_until_s(400);
  EXPECT_THAT(this->desk_->kinds_of(1), ElementsAre(Kind::gone));
}

// Of the trace alone.

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

  Catalog catalog_ = catalog();
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
  EXPECT_EQ(load_provider(config, catalog_).error().message,
            "cloud.prices_from (601s) lies behind the end of " + file.path().string() +
                ", whose last row is at 10min: it has to be at most that");
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
