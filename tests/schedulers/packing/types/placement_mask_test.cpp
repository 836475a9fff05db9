#include "schedulers/packing/types/placement_mask.hpp"

#include <gtest/gtest.h>

#include <string>

#include "schedulers/packing/rounds/round_input.hpp"
#include "tests/schedulers/cluster.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using testing::Cluster;

/// One core and 4 GiB on large types, two cores on small ones; nothing runs on the third family.
Demands by_family() {
  return Demands({{"large", Resources::of(0, 1, 4), 1}, {"small", Resources::of(0, 2, 4), 1}});
}

Catalog three_families() {
  return Catalog({testing::type_of("large-4", "large", Resources::of(0, 4, 16), 0.2),
                  testing::type_of("small-1", "small", Resources::of(0, 1, 16), 0.05),
                  testing::type_of("other-8", "other", Resources::of(0, 8, 32), 0.4),
                  testing::type_of("large-8", "large", Resources::of(0, 8, 32), 0.4)});
}

TEST(PlacementMask, answers_as_the_rule_of_placement_does_for_every_task_type_and_market) {
  Cluster cluster(three_families(), "no-packing");
  cluster.submit(test::JobBuilder(1).demands(by_family()).build());
  cluster.submit(test::JobBuilder(2).demand(Resources::of(0, 6, 8)).build());
  Job on_spot = test::JobBuilder(3).demand(Resources::of(0, 1, 1)).build();
  on_spot.markets = MarketChoice::spot;
  cluster.submit(on_spot);
  const ClusterState& state = cluster.state();
  PlacementMask mask(cluster.catalog());
  mask.learn(state);
  std::size_t allowed = 0;
  for (const TaskRow& task : state.pending()) {
    for (std::uint32_t i = 0; i < cluster.catalog().size(); ++i) {
      for (const Market market : {Market::on_demand, Market::spot}) {
        const bool may_be = mask.allows(asks_of(state, task), {TypeId{i}, market});
        EXPECT_EQ(may_be, !why_infeasible(state, {&task, TypeId{i}, market}))
            << task.id.value << " on " << cluster.catalog()[TypeId{i}].name;
        allowed += may_be;
      }
    }
  }
  EXPECT_EQ(allowed, 2 * 2 + 2 * 2 + 4U);
}

TEST(PlacementMask, knows_what_a_task_takes_on_each_family_and_at_least) {
  const Catalog catalog = three_families();
  PlacementMask mask(catalog);
  const ShapeId shape = mask.add(by_family());
  EXPECT_EQ(mask.amount(shape, test::type_named(catalog, "large-8")), Resources::of(0, 1, 4));
  EXPECT_EQ(mask.amount(shape, test::type_named(catalog, "small-1")), Resources::of(0, 2, 4));
  EXPECT_FALSE(mask.holds(shape, test::type_named(catalog, "small-1"))) << "too small for it";
  EXPECT_FALSE(mask.amount(shape, test::type_named(catalog, "other-8")));
  EXPECT_EQ(mask.least(shape), Resources::of(0, 1, 4));
  EXPECT_EQ(mask.families(), 3U);
}

TEST(PlacementMask, is_worked_out_once_a_shape_and_kept_between_rounds) {
  const Catalog catalog = test::table3_catalog();
  Cluster cluster(catalog, "no-packing");
  ReservationPrices prices(catalog);
  TaskKinds kinds(false);
  RoundInput input;
  cluster.submit(test::JobBuilder(1).tasks(500).demand(Resources::of(0, 4, 12)).build());
  for (int round = 0; round < 3; ++round) {
    input.gather({cluster.view(), MarketChoice::on_demand}, prices, kinds);
    EXPECT_EQ(prices.mask().looks(), catalog.size());
  }
  // Other prices are worked out anew, where a task may be is not.
  cluster.reprice("it1", 99);
  input.gather({cluster.view(), MarketChoice::on_demand}, prices, kinds);
  EXPECT_EQ(prices.mask().looks(), catalog.size());
  cluster.submit(test::JobBuilder(1'000).demand(Resources::of(0, 1, 1)).build());
  input.gather({cluster.view(), MarketChoice::on_demand}, prices, kinds);
  EXPECT_EQ(prices.mask().looks(), 2 * catalog.size()) << "one more shape";
}

TEST(PlacementMask, overwrites_a_shape_that_no_task_has_any_more) {
  const Catalog catalog = three_families();
  Cluster cluster(catalog, "no-packing");
  PlacementMask mask(catalog);
  cluster.submit(test::JobBuilder(1).demand(Resources::of(0, 6, 8)).build());
  mask.learn(cluster.state());
  const ShapeId before = cluster.state().pending().begin()->shape;
  EXPECT_FALSE(mask.holds(before, test::type_named(catalog, "large-4")));
  cluster.round();
  cluster.finish(1);
  cluster.submit(test::JobBuilder(2).demand(Resources::of(0, 1, 1)).build());
  mask.learn(cluster.state());
  const ShapeId after = cluster.state().pending().begin()->shape;
  ASSERT_EQ(before, after) << "the number is used again";
  EXPECT_TRUE(mask.holds(after, test::type_named(catalog, "large-4")));
}

}  // namespace
}  // namespace muster
