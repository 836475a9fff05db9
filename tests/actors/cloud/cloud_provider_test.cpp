#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/cloud/loopback_provider.hpp"
#include "actors/cloud/trace_provider.hpp"
#include "tests/actors/cloud/cloud_desk.hpp"
#include "tests/actors/cloud/host_world.hpp"
#include "tests/support/scripted_cloud.hpp"

// What holds for every cloud provider. Whoever adds one adds it to `Providers`, with a world around
// it that can run out of instances.

namespace muster {
namespace {

using test::at_s;
using test::Desk;
using test::QuickMachines;
using testing::ElementsAre;
using Kind = ProviderNewsKind;

class LoopbackWorld {
 public:
  std::unique_ptr<CloudProvider> make() {
    return std::make_unique<LoopbackProvider>(machine_options());
  }
  void run_out() { machines_.room = false; }
  /// Of each offering, as its provider says at first.
  static std::optional<std::uint32_t> free() { return std::nullopt; }
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
  Catalog catalog_ = test::it3_on_both_markets();
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
  static std::optional<std::uint32_t> free() { return std::nullopt; }
  void run_out() { cloud_.answers = {{LaunchResult::capacity, "none left"}}; }
  static constexpr bool kPricesChange = true;
  static constexpr bool kInterrupts = false;

 private:
  Catalog catalog_ = test::it3_on_both_markets();
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

using Providers = ::testing::Types<LoopbackWorld, TraceWorld, RemoteWorld, test::HostWorld>;
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
  std::vector<Offering> all = this->provider_->offerings();
  ASSERT_EQ(all.size(), 2U);
  for (Offering& each : all) {
    EXPECT_EQ(std::exchange(each.free, std::nullopt), this->world_.free()) << each.type;
  }
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

}  // namespace
}  // namespace muster
