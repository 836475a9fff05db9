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
  const ShapeId shape = mask.add({by_family()});
  EXPECT_EQ(mask.amount(shape, test::type_named(catalog, "large-8")), Resources::of(0, 1, 4));
  EXPECT_EQ(mask.amount(shape, test::type_named(catalog, "small-1")), Resources::of(0, 2, 4));
  EXPECT_FALSE(mask.holds(shape, test::type_named(catalog, "small-1"))) << "too small for it";
  EXPECT_FALSE(mask.amount(shape, test::type_named(catalog, "other-8")));
  EXPECT_EQ(mask.least(shape), Resources::of(0, 1, 4));
  EXPECT_EQ(mask.groups(), 3U) << "families, as long as no constraint tells their types apart";
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

Catalog labelled(std::size_t types) {
  std::vector<InstanceType> all;
  for (std::size_t i = 0; i < types; ++i) {
    all.push_back(testing::type_of("c" + std::to_string(i), "c", Resources::of(0, 8, 32), 0.4));
    all.back().labels = {{"rack", std::to_string(i % 4)}, {"zone", i % 2 == 0 ? "a" : "b"}};
  }
  return Catalog(std::move(all));
}

/// `cpus`: other ones make another shape, whatever the constraint.
Job constrained(std::uint64_t id, const std::string& constraint, double cpus = 1) {
  Job job = test::JobBuilder(id).tasks(4).demand(Resources::of(0, cpus, 1)).gang(false).build();
  job.constraint = constraint;
  return job;
}

TEST(PlacementMask, knows_the_types_that_a_constraint_admits_as_the_rule_of_placement_does) {
  Cluster cluster(labelled(8), "no-packing");
  std::uint64_t id = 1;
  for (const char* text : {"", "zone=a", "zone!=a", "type=c?", "label.rack=1|2", "zone=c"}) {
    cluster.submit(constrained(id++, text));
  }
  const ClusterState& state = cluster.state();
  PlacementMask mask(cluster.catalog());
  mask.learn(state);
  for (const TaskRow& task : state.pending()) {
    for (std::uint32_t i = 0; i < cluster.catalog().size(); ++i) {
      const bool may_be = !why_infeasible(state, {&task, TypeId{i}, Market::on_demand});
      EXPECT_EQ(mask.holds(task.shape, TypeId{i}), may_be) << task.id.value << " on c" << i;
      EXPECT_EQ(mask.amount(task.shape, TypeId{i}).has_value(), may_be);
    }
  }
}

TEST(PlacementMask, splits_groups_where_constraints_tell_types_apart_and_joins_them_again) {
  Cluster cluster(labelled(8), "no-packing");
  PlacementMask mask(cluster.catalog());
  const auto groups = [&] {
    mask.learn(cluster.state());
    // A master that starts again has the groups of one that went on.
    PlacementMask anew(cluster.catalog());
    anew.learn(cluster.state());
    for (std::uint32_t i = 0; i < 8; ++i) {
      EXPECT_EQ(anew.group_of(TypeId{i}), mask.group_of(TypeId{i})) << "c" << i;
    }
    return mask.groups();
  };
  EXPECT_EQ(groups(), 1U) << "one family";
  cluster.submit(constrained(1, "zone=a"));
  EXPECT_EQ(groups(), 2U);
  cluster.submit(constrained(2, "zone!=a"));
  cluster.submit(constrained(3, "zone!=c"));
  const std::uint64_t before = mask.grouping();
  EXPECT_EQ(groups(), 2U) << "they tell no others apart";
  EXPECT_EQ(mask.grouping(), before);
  cluster.submit(constrained(4, "label.rack=0"));
  EXPECT_EQ(groups(), 3U);
  cluster.round();
  for (const std::uint64_t job : {1, 2, 3}) cluster.finish(job);
  EXPECT_EQ(groups(), 2U);
  cluster.finish(4);
  EXPECT_EQ(groups(), 1U);
  EXPECT_FALSE(mask.is_constrained());
}

TEST(PlacementMask, asks_a_constraint_once_of_each_type_however_many_tasks_and_rounds) {
  const Catalog catalog = labelled(20);
  constexpr std::size_t kConstraints = 1'000;
  Cluster cluster(catalog, "no-packing");
  ReservationPrices prices(catalog);
  TaskKinds kinds(false);
  RoundInput input;
  for (std::uint64_t i = 0; i < 3 * kConstraints; ++i) {
    // Each is met by other types: all but those of the number's bits.
    std::string text = "type!=other";
    for (std::size_t bit = 0; bit < 10; ++bit) {
      if (((i % kConstraints + 1) >> bit) % 2 == 1) text += "|c" + std::to_string(bit);
    }
    cluster.submit(constrained(1'000'000 + i, text));
  }
  for (int round = 0; round < 3; ++round) {
    input.gather({cluster.view(), MarketChoice::on_demand}, prices, kinds);
    EXPECT_EQ(input.tasks().size(), 12 * kConstraints);
    EXPECT_EQ(prices.mask().constraint_looks(), kConstraints * catalog.size());
    EXPECT_EQ(prices.mask().looks(), kConstraints * catalog.size());
  }
}

TEST(PlacementMask, groups_anew_only_the_families_that_a_gone_constraint_told_apart) {
  constexpr std::uint32_t kWide = 40, kNarrow = 6;
  std::vector<InstanceType> types;
  for (std::uint32_t i = 0; i < kWide + kNarrow; ++i) {
    const std::string family = i < kWide ? "wide" : "narrow";
    types.push_back(
        testing::type_of("c" + std::to_string(i), family, Resources::of(0, 8, 32), 0.4));
    types.back().labels = {{family, std::to_string(i % 3)}, {"zone", "a"}};
  }
  const Catalog catalog{std::move(types)};
  PlacementMask mask(catalog);
  Cluster cluster(catalog, "no-packing");
  // Many constraints of the wide family, and some that tell no types of a family apart.
  std::uint64_t id = 1;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const std::string text = "label.wide!=1,label.other!=x" + std::to_string(i);
    cluster.submit(constrained(10 * id++, text, 1 + 0.001 * i));
  }
  cluster.submit(constrained(10 * id++, "zone=a"));
  cluster.submit(constrained(10 * id++, "label.narrow!=1"));
  mask.learn(cluster.state());
  EXPECT_EQ(mask.group_looks(), kWide + kNarrow) << "once for all constraints";
  EXPECT_EQ(mask.groups(), 4U);
  cluster.round();
  const auto looks_when_over = [&](std::uint64_t job) {
    const std::uint64_t before = mask.group_looks();
    cluster.finish(job);
    mask.learn(cluster.state());
    return mask.group_looks() - before;
  };
  EXPECT_EQ(looks_when_over(10 * (id - 2)), 0U) << "zone=a";
  EXPECT_EQ(looks_when_over(10 * (id - 1)), kNarrow);
  EXPECT_EQ(mask.groups(), 3U);
  EXPECT_EQ(looks_when_over(10), kWide) << "others tell the same types apart";
  EXPECT_EQ(mask.groups(), 3U);
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
