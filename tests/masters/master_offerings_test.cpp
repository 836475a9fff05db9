#include <algorithm>

#include "masters/instances/offering_news.hpp"
#include "tests/masters/scripted_master.hpp"
#include "tests/support/plain_settings.hpp"
#include "tests/support/same_state.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;

constexpr Duration kRest = std::chrono::minutes{10};

class MasterOfferingsTest : public test::MasterTest {
 protected:
  MasterOfferingsTest() {
    types_ = catalog_.types();
    for (InstanceType& type : types_) type.spot = Price::from_usd_h(type.on_demand.usd_h() / 4);
    spot_catalog_ = Catalog(types_);
    renew();
  }

  void renew(std::optional<MasterSnapshot> snapshot = {}) {
    MasterSettings settings = test::plain_settings();
    MasterDependencies parts;
    parts.catalog = &spot_catalog_;
    parts.policy = std::make_unique<test::ScriptedPolicy>(script_);
    settings.launch_backoff = kRest;
    settings.launch_backoff_longest = 4 * kRest;
    master_.emplace(settings, std::move(parts));
    EXPECT_EQ(master_->restore(std::move(snapshot), {}), "");
  }

  OfferingChange change(std::uint64_t number, double usd_h, Market market = Market::on_demand) {
    return {number, at_s(clock_s_), {"it3", market, "", Price::from_usd_h(usd_h), true, 0}};
  }
  OfferingChange gone(std::uint64_t number) {
    OfferingChange none = change(number, 0.8);
    none.offering.available = false;
    return none;
  }
  bool hear(const OfferingChange& news) { return master_->on_offerings({&news, 1}, now()); }

  /// The order that a round makes for a job that was accepted.
  std::optional<LaunchInstance> ask(const Launch& launch) {
    Plan plan;
    plan.launches = {launch};
    plan.places = {{TaskId{1}, LaunchIndex{0}, {}}};
    for (const Effect& effect : round(std::move(plan))) {
      if (const auto* order = std::get_if<LaunchInstance>(&effect)) return *order;
    }
    return std::nullopt;
  }
  std::optional<LaunchInstance> ask() { return ask({it3(), Market::on_demand, {}}); }
  RefusalCode reason() const { return master_->state().find(TaskId{1})->reason.code; }
  template <class Wanted>
  Wanted last() {
    commit();
    const auto found = std::find_if(events_.rbegin(), events_.rend(), [](const Event& event) {
      return std::holds_alternative<Wanted>(event.body);
    });
    return std::get<Wanted>(found->body);
  }

  std::vector<InstanceType> types_;
  Catalog spot_catalog_;
};

TEST_F(MasterOfferingsTest, rents_at_the_price_of_the_moment_and_at_no_other) {
  master_->submit(JobBuilder(1).build(), now());
  EXPECT_TRUE(hear(change(1, 0.9)));
  const auto order = ask();
  ASSERT_TRUE(order);
  EXPECT_EQ(order->max_price, Price::from_usd_h(0.9));
  EXPECT_EQ(last<LaunchRequested>().price, Price::from_usd_h(0.9));
  EXPECT_EQ(last<LaunchRequested>().max_price, Price::from_usd_h(0.9));
}

TEST_F(MasterOfferingsTest, pays_for_a_spot_instance_no_more_than_on_demand) {
  master_->submit(JobBuilder(1).build(), now());
  const auto order = ask({it3(), Market::spot, {}});
  ASSERT_TRUE(order);
  EXPECT_EQ(order->max_price, Price::from_usd_h(0.8));
  EXPECT_EQ(last<LaunchRequested>().price, Price::from_usd_h(0.2));
}

TEST_F(MasterOfferingsTest, pays_what_the_policy_says_at_most_and_says_why_it_does_not_ask) {
  master_->submit(JobBuilder(1).build(), now());
  Launch launch{it3(), Market::spot, {}};
  launch.max_price = Price::from_usd_h(0.3);
  hear(change(1, 0.4, Market::spot));
  EXPECT_FALSE(ask(launch));
  EXPECT_EQ(master_->state().find(TaskId{1})->reason,
            (Refusal{RefusalKind::not_now, RefusalCode::cloud_price, {}, 0.4, 0.3}));
  hear(change(2, 0.25, Market::spot));
  EXPECT_EQ(ask(launch)->max_price, Price::from_usd_h(0.3));
}

TEST_F(MasterOfferingsTest, names_the_zone_of_what_it_orders_each_time) {
  master_->submit(JobBuilder(1).build(), now());
  OfferingChange zone = change(1, 0.7);
  zone.offering.zone = "b";
  hear(zone);
  Launch launch{it3(), Market::on_demand, {}};
  launch.zone = "b";
  EXPECT_EQ(ask(launch)->zone, "b");
  master_->remind();
  const auto again = commit();
  EXPECT_EQ(std::get<LaunchInstance>(again.at(0)).zone, "b");
  EXPECT_EQ(std::get<LaunchInstance>(again.at(0)).max_price, Price::from_usd_h(0.7));
}

TEST_F(MasterOfferingsTest, does_not_ask_for_what_is_not_to_be_had) {
  master_->submit(JobBuilder(1).build(), now());
  EXPECT_FALSE(hear(gone(1)));
  EXPECT_FALSE(ask());
  EXPECT_EQ(reason(), RefusalCode::cloud_capacity);
  EXPECT_TRUE(hear(change(2, 0.8))) << "it can be had again";
  EXPECT_TRUE(ask());
}

TEST_F(MasterOfferingsTest, refuses_a_launch_of_what_is_not_on_offer) {
  master_->submit(JobBuilder(1).build(), now());
  Launch launch{it3(), Market::on_demand, {}};
  launch.zone = "nowhere";
  EXPECT_FALSE(ask(launch));
  EXPECT_EQ(reason(), RefusalCode::malformed);
}

TEST_F(MasterOfferingsTest, tells_the_task_why_the_cloud_refused) {
  const std::vector<std::pair<CloudReason, RefusalCode>> reasons = {
      {CloudReason::capacity, RefusalCode::cloud_capacity},
      {CloudReason::quota, RefusalCode::cloud_quota},
      {CloudReason::price, RefusalCode::cloud_price},
      {CloudReason::throttled, RefusalCode::cloud_throttled},
      {CloudReason::failed, RefusalCode::cloud_failed}};
  for (const auto& [said, told] : reasons) {
    renew();
    master_->submit(JobBuilder(1).build(), now());
    const auto order = ask();
    ASSERT_TRUE(order);
    master_->instance_refused(order->instance, now(), said);
    EXPECT_EQ(reason(), told);
    EXPECT_EQ(last<LaunchRefused>().reason, said);
    EXPECT_FALSE(ask());
    EXPECT_EQ(reason(), told) << "while it rests";
  }
}

TEST_F(MasterOfferingsTest, records_why_an_instance_is_gone) {
  master_->submit(JobBuilder(1).build(), now());
  ask();
  boot(0);
  master_->instance_gone(InstanceId{0}, {}, now(), {{}, CloudReason::reclaimed});
  EXPECT_EQ(last<InstanceGone>().reason, CloudReason::reclaimed);
  ask();
  boot(1);
  master_->abandon(InstanceId{1}, CauseCode::worker_lost, now());
  master_->instance_gone(InstanceId{1}, {}, now());
  EXPECT_EQ(last<InstanceGone>().reason, CloudReason::ended);
}

TEST_F(MasterOfferingsTest, waits_longer_each_time_an_offering_is_refused_again) {
  master_->submit(JobBuilder(1).build(), now());
  const auto refused_for = [&] {
    const auto order = ask();
    EXPECT_TRUE(order);
    master_->instance_refused(order->instance, now(), CloudReason::capacity);
    const double since = clock_s_ - 1;
    while (!ask()) clock_s_ += 59;
    const double rested = clock_s_ - 1 - since;
    master_->instance_refused(InstanceId{order->instance.value + 1}, now(), CloudReason::capacity);
    return rested;
  };
  EXPECT_NEAR(refused_for(), 600, 60);
  // The order that ended the rest was refused too: it has rested for twice as long already.
  clock_s_ += 1200;
  EXPECT_NEAR(refused_for(), 2400, 60);
  clock_s_ += 2400;
  EXPECT_NEAR(refused_for(), 2400, 60) << "it never rests for longer than that";
  clock_s_ += 2400;
  const auto order = ask();
  master_->instance_up(order->instance, {}, now());
  master_->instance_gone(order->instance, {}, now(), {{}, CloudReason::failed});
  EXPECT_NEAR(refused_for(), 600, 60) << "it began anew after a success";
}

TEST_F(MasterOfferingsTest, orders_refused_together_count_once) {
  master_->submit(JobBuilder(1).tasks(3).gang(false).build(), now());
  Plan plan;
  for (std::uint32_t i = 0; i < 3; ++i) {
    plan.launches.push_back({it3(), Market::on_demand, {}});
    plan.places.push_back({TaskId{i == 0 ? 1 : 100 + i}, LaunchIndex{i}, {}});
  }
  round(plan);
  for (std::uint64_t i = 0; i < 3; ++i) {
    master_->instance_refused(InstanceId{i}, now(), CloudReason::capacity);
  }
  clock_s_ += 605;
  EXPECT_TRUE(ask());
}

TEST_F(MasterOfferingsTest, other_offerings_of_the_type_do_not_rest_with_it) {
  master_->submit(JobBuilder(1).build(), now());
  master_->instance_refused(ask()->instance, now(), CloudReason::capacity);
  EXPECT_FALSE(ask());
  EXPECT_TRUE(ask({it3(), Market::spot, {}}));
}

TEST_F(MasterOfferingsTest, notices_that_a_change_is_missing) {
  EXPECT_TRUE(hear(change(1, 0.9)));
  const OfferingChange next = change(2, 1.0);
  const OfferingChange later = change(3, 1.1);
  EXPECT_FALSE(misses_change(master_->state().offerings().known(), {&next, 1}));
  EXPECT_TRUE(misses_change(master_->state().offerings().known(), {&later, 1}));
  EXPECT_TRUE(hear(next));
  EXPECT_FALSE(hear(next)) << "it is known";
  EXPECT_FALSE(misses_change(master_->state().offerings().known(), {&later, 1}));
}

TEST_F(MasterOfferingsTest, knows_prices_and_rests_after_a_restart) {
  master_->submit(JobBuilder(1).build(), now());
  hear(change(5, 0.9));
  hear(change(6, 0.3, Market::spot));
  master_->instance_refused(ask()->instance, now(), CloudReason::quota);
  const ClusterState before = master_->state();
  renew(master_->snapshot());
  EXPECT_EQ(test::difference(master_->state(), before), "");
  EXPECT_EQ(master_->state().offerings().known(), 6u);
  EXPECT_FALSE(ask());
  EXPECT_EQ(reason(), RefusalCode::cloud_quota);
  EXPECT_EQ(ask({it3(), Market::spot, {}})->max_price, Price::from_usd_h(0.9));
}

}  // namespace
}  // namespace muster
