#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <set>

#include "schedulers/baselines/greedy_buyer.hpp"
#include "schedulers/baselines/supercloud.hpp"
#include "schedulers/packing/rounds/moves.hpp"
#include "tests/schedulers/cluster.hpp"
#include "tests/schedulers/draw.hpp"
#include "tests/schedulers/stratus/m4.hpp"

// The baselines of the Stratus paper. A round of Cluster is 5 minutes: a scheduling event.

namespace muster {
namespace {

using testing::Cluster;
using testing::draw;
using testing::job_of;
using testing::m4;
using namespace std::chrono_literals;

constexpr double kHour_s = 3600;

TEST(SpotFleet, buys_the_cheapest_type_for_each_task_that_no_instance_has_room_for) {
  Cluster cluster(m4(), "spot-fleet");
  cluster.submit(job_of(1, 60, 3, 4));
  cluster.submit(job_of(2, 60, 1, 4));
  cluster.submit(job_of(3, 60, 1, 4));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "xlarge(1 2) large(3)") << "what is bought takes later tasks";
}

TEST(SpotFleet, packs_where_the_least_of_its_resource_is_left) {
  const auto layout_under = [](const std::string& policy) {
    Cluster cluster(m4(), policy);
    cluster.submit(job_of(1, 60, 6, 4));
    cluster.submit(job_of(2, 60, 3, 10));
    cluster.submit(job_of(3, 60, 5, 24));
    cluster.round();
    cluster.submit(job_of(4, 60, 1, 4));
    cluster.round();
    return cluster.layout();
  };
  EXPECT_EQ(layout_under("spot-fleet"), "2xlarge(1) xlarge(2 4) 2xlarge(3)");
  EXPECT_EQ(layout_under("spot-fleet,pack=memory"), "2xlarge(1) xlarge(2 4) 2xlarge(3)");
  EXPECT_EQ(layout_under("spot-fleet,pack=cpu,price=cpu").substr(0, 8), "2xlarge(");
}

TEST(SpotFleet, weighs_prices_by_cpus_where_it_is_told_to) {
  std::vector<InstanceType> types = m4().types();
  types[5].on_demand = Price::from_usd_h(2);  // 16xlarge: the least for a cpu
  for (const bool weighted : {false, true}) {
    Cluster cluster(Catalog(types), weighted ? "spot-fleet,price=cpu" : "spot-fleet");
    cluster.submit(job_of(1, 60, 1, 1));
    cluster.round();
    EXPECT_EQ(cluster.layout(), weighted ? "16xlarge(1)" : "large(1)");
  }
}

TEST(SpotFleet, moves_nothing_and_gives_back_what_is_empty) {
  Cluster cluster(m4(), "spot-fleet");
  cluster.submit(job_of(1, kHour_s, 4, 4));
  cluster.submit(job_of(2, kHour_s, 0.5, 1));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "xlarge(1) large(2)");
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(cluster.round().places.empty());
  cluster.finish(1);
  EXPECT_EQ(cluster.round().releases.size(), 1u);
}

TEST(Hotspot, gives_each_task_an_instance_of_its_own_of_the_cheapest_type) {
  Cluster cluster(m4(true), "hotspot");
  cluster.submit(job_of(1, 60, 0.5, 1));
  cluster.submit(job_of(2, 60, 0.5, 1));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "large(1) large(2)");
  EXPECT_EQ(plan.launches[0].market, Market::spot);
  EXPECT_EQ(plan.launches[0].max_price, Price::from_usd_h(1)) << "10 times on demand";
}

TEST(Hotspot, moves_nothing_while_prices_stay) {
  Cluster cluster(m4(true), "hotspot");
  cluster.submit(job_of(1, 100 * kHour_s, 0.5, 1));
  for (int i = 0; i < 4; ++i) cluster.round();
  EXPECT_EQ(cluster.layout(), "large(1)");
  EXPECT_TRUE(cluster.policy().settled(cluster.view()));
}

// Section 2 of the notes: (p_a - p_b)(R - U) > (p_a + p_b) T_mig. Here p_a = 0.5, p_b = 0.2,
// T_mig = 53.7 s (1 GiB) and U = 180 s: R > 305.3 s.
TEST(Hotspot, moves_where_what_is_left_of_the_task_pays_for_the_move) {
  for (const double left_s : {305, 306}) {
    Cluster cluster(m4(), "hotspot");
    cluster.submit(job_of(1, 300 + left_s, 0.5, 1));
    cluster.round();
    ASSERT_EQ(cluster.layout(), "large(1)");
    cluster.reprice("large", 0.5);
    const Plan plan = cluster.round();
    EXPECT_EQ(cluster.layout(), left_s == 306 ? "xlarge(1)" : "large(1)");
    for (const Place& place : plan.places) EXPECT_EQ(place.group, plan.releases.at(0).group);
  }
}

TEST(Hotspot, stays_where_it_is_told_that_nothing_moves) {
  Cluster cluster(m4(), "hotspot,moves=false");
  cluster.submit(job_of(1, 100 * kHour_s, 0.5, 1));
  cluster.round();
  cluster.reprice("large", 5);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "large(1)");
}

RC_GTEST_PROP(Moves, that_pay_cost_less_than_staying_when_prices_stay_as_they_are, ()) {
  const Move move{.from_usd_h = draw(1, 400) / 100.0,
                  .left = std::chrono::seconds{draw(0, 4000)},
                  .transfer = std::chrono::seconds{draw(0, 600)},
                  .spin_up = std::chrono::seconds{draw(0, 200)}};
  const std::array to{MoveTo{draw(1, 400) / 100.0, move.left}};
  const double u = to_hours(move.spin_up), t = to_hours(move.transfer), r = to_hours(move.left);
  const double stay = move.from_usd_h * r;
  const double go = move.from_usd_h * (u + t) + to[0].usd_h * (t + r - u);
  RC_ASSERT(pays(move, to, {}) == (go < stay && r > u + t));
  RC_ASSERT(!pays(move, to, {.margin_usd = 1e6}));
  if (pays(move, to, {.billed_from_request = true})) RC_ASSERT(go + to[0].usd_h * u < stay);
}

TEST(Moves, do_not_pay_over_a_link_on_which_they_never_end) {
  const Move move{.from_usd_h = 100,
                  .left = std::chrono::hours{1000},
                  .transfer = time_to_send(1, 1e-12),
                  .spin_up = 180s};
  const std::array to{MoveTo{0.01, move.left}};
  EXPECT_FALSE(pays(move, to, {}));
}

/// A buyer over a catalog, and the shapes of tasks.
struct Shop {
  Catalog catalog = m4();
  RoomGroups groups{catalog};
  ReservationPrices prices{catalog, MarketChoice::any};
  MarketOffers offers{prices.types(), [](TypeId, Market) { return false; }};

  ShapeId shape(double cpu, double gib) {
    return prices.add({Demands(Resources::of(0, cpu, gib))});
  }
  GreedyBuyer buyer(GreedyRank rank = GreedyRank::used) const {
    return {prices, groups, rank, offers};
  }
  std::string text(const std::vector<GreedyGroup>& groups_bought) const {
    std::string text;
    for (const GreedyGroup& group : groups_bought) {
      text += (text.empty() ? "" : " ") + std::to_string(group.tasks.size()) + "@" +
              catalog[group.as.type].name;
    }
    return text;
  }
};

TEST(Supercloud, finds_the_resource_of_which_all_need_most) {
  Shop shop;
  const ShapeId cpu = shop.shape(8, 16), memory = shop.shape(2, 30);
  EXPECT_EQ(shop.buyer().constraining(std::vector{cpu, memory}), Resource::memory);
  EXPECT_EQ(shop.buyer().constraining(std::vector{cpu, cpu, memory}), Resource::cpu);
}

TEST(Supercloud, fills_the_type_at_which_a_used_unit_is_cheapest_and_the_larger_one_of_equals) {
  Shop shop;
  const std::vector<ShapeId> tasks(12, shop.shape(2, 8));
  EXPECT_EQ(shop.text(shop.buyer().buy(tasks, MarketChoice::any)), "8@4xlarge 4@2xlarge");
  // A unit costs the same at every size: by what a type has the largest is bought.
  EXPECT_EQ(shop.text(shop.buyer(GreedyRank::capacity).buy(tasks, MarketChoice::any)),
            "12@16xlarge");
}

TEST(Supercloud, takes_those_first_that_ask_for_most) {
  Shop shop;
  const ShapeId big = shop.shape(3, 1), small = shop.shape(1, 1);
  const auto bought = shop.buyer().buy(std::vector{small, big, small}, MarketChoice::any);
  ASSERT_EQ(shop.text(bought), "2@xlarge 1@large");
  EXPECT_EQ(bought[0].tasks, (std::vector<std::uint32_t>{1, 0}));
}

RC_GTEST_PROP(Supercloud, gives_every_task_one_instance_that_holds_all_of_its_tasks, ()) {
  Shop shop;
  std::vector<ShapeId> kinds;
  for (int i = 0; i < 4; ++i) kinds.push_back(shop.shape(draw(1, 128) * 0.5, draw(1, 250)));
  std::vector<ShapeId> tasks;
  for (int i = draw(0, 60); i > 0; --i) tasks.push_back(kinds[draw(0U, 4U)]);
  const GreedyRank rank = draw(0, 2) == 0 ? GreedyRank::used : GreedyRank::capacity;
  std::set<std::uint32_t> placed;
  for (const GreedyGroup& group : shop.buyer(rank).buy(tasks, MarketChoice::any)) {
    RC_ASSERT(!group.tasks.empty());
    Resources sum;
    for (std::uint32_t task : group.tasks) {
      RC_ASSERT(placed.insert(task).second);
      sum += shop.prices.on(tasks[task], group.as.type).amount;
    }
    RC_ASSERT(sum.fits_in(shop.catalog[group.as.type].capacity));
  }
  RC_ASSERT(placed.size() == tasks.size());
}

TEST(Supercloud, never_adds_a_task_to_an_instance_of_an_earlier_event) {
  for (const bool dot : {false, true}) {
    Cluster cluster(m4(), dot ? "supercloud,dot,moves=false" : "supercloud,moves=false");
    cluster.submit(job_of(1, kHour_s, 3, 4));
    cluster.round();
    cluster.submit(job_of(2, kHour_s, 1, 4));
    cluster.round();
    EXPECT_EQ(cluster.layout(), dot ? "xlarge(1 2)" : "xlarge(1) large(2)");
  }
}

TEST(Supercloud, moves_all_of_an_instance_to_what_it_would_buy_now_where_that_pays) {
  for (const double hours : {0.15, 10.0}) {
    Cluster cluster(m4(), "supercloud");
    cluster.submit(job_of(1, hours * kHour_s, 1, 1));
    cluster.submit(job_of(2, hours * kHour_s, 1, 1));
    cluster.submit(job_of(3, hours * kHour_s, 6, 1));
    cluster.round();
    ASSERT_EQ(cluster.layout(), "2xlarge(1 2 3)");
    cluster.finish(3);
    const Plan plan = cluster.round();
    EXPECT_EQ(cluster.layout(), hours > 1 ? "large(1 2)" : "2xlarge(1 2)");
    for (const Place& place : plan.places) EXPECT_EQ(place.group, plan.releases.at(0).group);
  }
}

TEST(Supercloud, asks_the_greedy_again_only_for_what_has_changed) {
  const Supercloud* seen = nullptr;
  PolicyModule module = *find_module("supercloud").value();
  module.make = [&seen](const std::any&, const Catalog& catalog, const PolicyServices&) {
    auto policy = std::make_unique<Supercloud>(catalog, SupercloudParams{});
    seen = policy.get();
    return policy;
  };
  Cluster cluster(m4(), module, "supercloud");
  constexpr std::uint64_t kInstances = 30;
  for (std::uint64_t id = 1; id <= kInstances; ++id) {
    cluster.submit(job_of(id, 1000 * kHour_s, 2, 8));
    cluster.round();
  }
  for (int i = 0; i < 10; ++i) cluster.round();
  EXPECT_EQ(seen->looks(), kInstances) << "once for each";
  cluster.submit(job_of(101, 1000 * kHour_s, 2, 8, 2));
  cluster.round();
  cluster.round();
  EXPECT_EQ(seen->looks(), kInstances + 1);
  cluster.finish_task(101);
  cluster.round();
  EXPECT_EQ(seen->looks(), kInstances + 2) << "of its two tasks one has ended";
  cluster.round();
  const std::uint64_t before = seen->looks();
  cluster.reprice("2xlarge", 0.39);
  cluster.round();
  EXPECT_EQ(seen->looks(), before + kInstances + 1) << "at other prices for all of them";
}

TEST(CloudBaselines, rent_elsewhere_what_the_cloud_has_none_of) {
  for (const char* policy : {"stratus", "hotspot", "spot-fleet", "supercloud"}) {
    Cluster cluster(m4(true), policy);
    cluster.change({"large", Market::spot, "", Price::from_usd_h(0.025), false});
    cluster.submit(job_of(1, kHour_s, 1, 1));
    const Plan plan = cluster.round();
    ASSERT_EQ(plan.launches.size(), 1u) << policy;
    const bool has = plan.launches[0].market == Market::on_demand || cluster.layout() != "large(1)";
    EXPECT_TRUE(has) << policy;
  }
}

TEST(CloudBaselines, use_what_there_is_of_a_fixed_fleet) {
  for (const char* policy : {"hotspot", "spot-fleet", "supercloud"}) {
    Cluster cluster(m4(), policy);
    cluster.add_to_fleet("xlarge", 2);
    for (std::uint64_t i = 1; i <= 3; ++i) cluster.submit(job_of(i, kHour_s, 2, 2));
    const Plan plan = cluster.round();
    EXPECT_TRUE(plan.launches.empty() && plan.releases.empty()) << policy;
    EXPECT_EQ(plan.places.size(), std::string(policy) == "hotspot" ? 2u : 3u) << policy;
  }
}

}  // namespace
}  // namespace muster
