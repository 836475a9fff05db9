#include "schedulers/stratus/scaler.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <utility>

#include "tests/schedulers/draw.hpp"
#include "tests/schedulers/stratus/m4.hpp"

namespace muster::stratus {
namespace {

using testing::draw;
using testing::m4;
using testing::type_of;

/// A scaler over a catalog, and tasks that are known to it.
struct Shop {
  explicit Shop(Catalog the_catalog, std::size_t most = 0)
      : catalog(std::move(the_catalog)), most_in_group(most) {}

  Item task(double cpu, double gib, MarketChoice markets = MarketChoice::any) {
    return {prices.add({Demands(Resources::of(0, cpu, gib))}), markets, std::chrono::seconds{60}};
  }
  Scaler scaler() {
    const auto rests = [this](TypeId type, Market on) { return resting.contains({type, on}); };
    return {prices, MarketOffers(prices.types(), rests), most_in_group};
  }
  TypeId type(const char* name) const { return test::type_named(catalog, name); }
  std::string text(const std::vector<Candidate>& groups) const {
    std::string text;
    for (const Candidate& group : groups) {
      text +=
          (text.empty() ? "" : " ") + std::to_string(group.tasks) + "@" + catalog[group.type].name;
    }
    return text;
  }

  Catalog catalog;
  std::size_t most_in_group;
  ReservationPrices prices{catalog, MarketChoice::any};
  std::set<std::pair<TypeId, Market>> resting;
};

// 3.3: "4 VCores and 1 GiB of memory" on "8 VCores and 16 GiB", the smallest type has 2 VCores: the
// normalized used constraining resource is 2.
TEST(Scaler, scores_the_worked_example) {
  Shop shop(Catalog({type_of("small", "m", Resources::of(0, 2, 8), 0.1),
                     type_of("big", "m", Resources::of(0, 8, 16), 0.5)}));
  const Price price = Price::from_usd_h(0.5);
  const Resources used = Resources::of(0, 4, 1);
  EXPECT_EQ(used.dominant(shop.catalog[shop.type("big")].capacity), Resource::cpu);
  EXPECT_DOUBLE_EQ(shop.scaler().score(used, shop.type("big"), price, MarketChoice::any), 2 / 0.5);
}

TEST(Scaler, finds_the_lowest_cost_per_resource_used_of_one_kind) {
  std::vector<InstanceType> types = m4().types();
  types[2].on_demand = Price::from_usd_h(0.35);  // 2xlarge, of 8 cores, is the cheapest a core
  Shop shop{Catalog(types)};
  std::vector<Item> items(9, shop.task(1, 1));
  const auto best = shop.scaler().best(items);
  ASSERT_TRUE(best);
  EXPECT_EQ(shop.catalog[best->type].name, "2xlarge");
  EXPECT_EQ(best->tasks, 8u);
}

TEST(Scaler, prefers_more_tasks_and_then_the_first_type_where_scores_are_equal) {
  Shop shop(m4());
  std::vector<Item> items(5, shop.task(2, 8));
  // Of m4 every size costs the same a core: all that are full have one score.
  EXPECT_EQ(shop.text(shop.scaler().groups(items)), "4@2xlarge 1@large");
}

TEST(Scaler, weighs_groups_of_different_constraining_resources) {
  Shop shop(m4());
  // Alone the first leaves half of the memory of a large instance, the two together fill it.
  const std::vector<Item> items{shop.task(1, 4), shop.task(1, 4)};
  const auto best = shop.scaler().best(items);
  EXPECT_EQ(best->tasks, 2u);
  EXPECT_EQ(shop.catalog[best->type].name, "large");
}

TEST(Scaler, buys_the_best_fit_for_each_task_where_groups_are_of_one) {
  Shop shop(m4(), 1);
  const std::vector<Item> items{shop.task(6, 4), shop.task(2, 2), shop.task(1, 15)};
  EXPECT_EQ(shop.text(shop.scaler().groups(items)), "1@2xlarge 1@large 1@xlarge");
}

TEST(Scaler, asks_for_what_rests_only_where_nothing_else_holds_the_task) {
  Shop shop(m4());
  shop.resting = {{shop.type("large"), Market::on_demand},
                  {shop.type("16xlarge"), Market::on_demand}};
  EXPECT_EQ(shop.text(shop.scaler().groups(std::vector{shop.task(1, 1)})), "1@xlarge");
  EXPECT_EQ(shop.text(shop.scaler().groups(std::vector{shop.task(60, 1)})), "1@16xlarge");
}

TEST(Scaler, rents_on_the_cheapest_market_that_the_job_allows) {
  Shop shop(m4(true));
  const auto market = [&](MarketChoice choice) {
    return shop.scaler().best(std::vector{shop.task(1, 1, choice)})->market;
  };
  EXPECT_EQ(market(MarketChoice::any), Market::spot);
  EXPECT_EQ(market(MarketChoice::spot), Market::spot);
  EXPECT_EQ(market(MarketChoice::on_demand), Market::on_demand);
}

TEST(Scaler, rents_on_demand_what_the_cloud_has_none_of_on_the_spot_market) {
  Shop shop(m4(true));
  for (const InstanceType& type : shop.catalog.types()) {
    shop.resting.insert({shop.type(type.name.c_str()), Market::spot});
  }
  EXPECT_EQ(shop.scaler().best(std::vector{shop.task(1, 1)})->market, Market::on_demand);
  const auto only_spot = shop.scaler().best(std::vector{shop.task(1, 1, MarketChoice::spot)});
  EXPECT_EQ(only_spot->market, Market::spot) << "the cloud says why it waits";
}

TEST(Scaler, leaves_out_what_no_type_holds) {
  Shop shop(m4());
  const std::vector<Item> items{shop.task(65, 1), shop.task(2, 8)};
  const auto groups = shop.scaler().groups(items);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].first, 1u);
}

/// The best pair, each of them added up anew.
Candidate plain(Shop& shop, std::span<const Item> items) {
  Candidate best;
  Scaler scaler = shop.scaler();
  for (std::size_t tasks = 1; tasks <= items.size(); ++tasks) {
    Resources used;
    for (const Item& item : items.first(tasks))
      used += shop.prices.on(item.shape, TypeId{0}).amount;
    for (std::uint32_t i = 0; i < shop.catalog.size(); ++i) {
      if (!used.fits_in(shop.catalog[TypeId{i}].capacity)) continue;
      const Price price = shop.catalog[TypeId{i}].on_demand;
      const double score = scaler.score(used, TypeId{i}, price, MarketChoice::any);
      if (score < best.score || (score == best.score && tasks < best.tasks)) continue;
      if (score == best.score && tasks == best.tasks && price >= best.price) continue;
      best = {TypeId{i}, Market::on_demand, 0, tasks, score, price};
    }
  }
  return best;
}

RC_GTEST_PROP(Scaler, finds_the_best_pair_of_all_for_each_group_in_turn, ()) {
  std::vector<InstanceType> types = m4().types();
  for (InstanceType& type : types) {
    type.on_demand = Price::from_usd_h(type.on_demand.usd_h() * draw(50, 150) / 100);
  }
  Shop shop{Catalog(types)};
  std::vector<Item> kinds;
  for (int i = 0; i < 4; ++i) kinds.push_back(shop.task(draw(1, 40) * 0.5, draw(1, 200) * 0.5));
  std::vector<Item> items;
  // Arrays, for which answers are taken over from one instance to the next.
  while (items.size() < 40) items.insert(items.end(), draw(1U, 20U), kinds[draw(0U, 4U)]);
  std::size_t at = 0;
  for (const Candidate& group : shop.scaler().groups(items)) {
    const Candidate expected = plain(shop, std::span(items).subspan(at));
    RC_ASSERT(group.first == at);
    RC_ASSERT(group.tasks == expected.tasks);
    RC_ASSERT(group.type == expected.type);
    at += group.tasks;
  }
  RC_ASSERT(at == items.size());
}

}  // namespace
}  // namespace muster::stratus
