#include "schedulers/packing/types/never_fits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/catalogs.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;
using testing::table_3;
using testing::type_of;

Job asking(const Resources& amount, MarketChoice markets = MarketChoice::any) {
  Job job = test::JobBuilder(1).tasks(3).demand(amount).build();
  job.markets = markets;
  return job;
}

/// The sentence names this number and type, or this resource or market.
auto says(const std::string& decisive) {
  return ::testing::Optional(::testing::AllOf(::testing::HasSubstr(decisive), IsGolden()));
}

TEST(NeverFits, says_nothing_of_what_fits_somewhere) {
  EXPECT_FALSE(why_never_fits(asking(Resources::of(4, 16, 244)), table_3(), {}));
}

TEST(NeverFits, names_what_there_is_not_enough_of_and_the_largest_type) {
  EXPECT_THAT(why_never_fits(asking(Resources::of(1000, 1, 1)), table_3(), {}), says("4 (it1)"));
  EXPECT_THAT(why_never_fits(asking(Resources::of(0, 1, 999.5)), table_3(), {}), says("244 (it1)"));
}

TEST(NeverFits, says_when_it_is_the_combination_that_there_is_not) {
  const Catalog catalog({type_of("wide", "a", Resources::of(0, 64, 8), 1),
                         type_of("deep", "b", Resources::of(1, 4, 8), 1)});
  EXPECT_THAT(why_never_fits(asking(Resources::of(1, 64, 8)), catalog, {}), says("4 (deep)"));
}

TEST(NeverFits, looks_only_at_markets_that_the_job_takes) {
  const Catalog catalog = table_3();
  EXPECT_THAT(why_never_fits(asking(Resources::of(0, 1, 1), MarketChoice::spot), catalog, {}),
              says("spot"));
  const Fleet fleet{{TypeId{3}, Market::on_demand, 2}};
  EXPECT_THAT(why_never_fits(asking(Resources::of(0, 1, 1), MarketChoice::spot), catalog, fleet),
              says("spot"));
  EXPECT_FALSE(
      why_never_fits(asking(Resources::of(0, 1, 1), MarketChoice::on_demand), catalog, fleet));
}

TEST(NeverFits, looks_only_at_the_fleet_where_there_is_one) {
  const Fleet fleet{{TypeId{3}, Market::on_demand, 2}};
  EXPECT_THAT(why_never_fits(asking(Resources::of(1, 1, 1)), table_3(), fleet), says("gpus"));
  EXPECT_THAT(why_never_fits(asking(Resources::of(0, 1000, 1)), table_3(), fleet), says("4 (it4)"));
}

Catalog in_zones() {
  std::vector<InstanceType> types = table_3().types();
  types[0].labels = types[3].labels = {{"zone", "eu-1a"}};
  types[1].labels = {{"disk", "nvme"}, {"zone", "eu-1b"}};
  return Catalog(std::move(types));
}

Job constrained(const std::string& constraint, const Resources& amount) {
  Job job = asking(amount);
  job.constraint = constraint;
  return job;
}

TEST(NeverFits, names_what_there_is_of_what_a_constraint_asks_for) {
  const Resources small = Resources::of(0, 1, 1);
  EXPECT_FALSE(why_never_fits(constrained("zone=eu-1a", small), in_zones(), {}));
  EXPECT_THAT(why_never_fits(constrained("zone=eu-2a", small), in_zones(), {}), says("eu-1b"));
  EXPECT_THAT(why_never_fits(constrained("zone=eu-1a,label.rack=7", small), in_zones(), {}),
              says("no type has a label.rack"));
  EXPECT_THAT(why_never_fits(constrained("type=c7i.*", small), in_zones(), {}), says("it1, it2"));
  EXPECT_THAT(why_never_fits(constrained("rack~7", small), in_zones(), {}), says("rack~7"));
}

TEST(NeverFits, asks_for_room_on_the_types_that_a_constraint_admits) {
  EXPECT_THAT(why_never_fits(constrained("zone=eu-1b", Resources::of(2, 1, 1)), in_zones(), {}),
              says("1 (it2)"));
}

TEST(NeverFits, knows_which_of_a_fleet_a_constraint_admits) {
  const Fleet fleet{{TypeId{0}, Market::on_demand, 1}, {TypeId{1}, Market::on_demand, 2}};
  const Resources gpu = Resources::of(1, 1, 1);
  EXPECT_FALSE(why_task_never_fits(constrained("zone=eu-1b", gpu), in_zones(), fleet));
  EXPECT_EQ(why_task_never_fits(constrained("zone=eu-2a", gpu), in_zones(), fleet),
            (Refusal{RefusalKind::never, RefusalCode::constraint, {}, 0, 0}));
  EXPECT_THAT(why_never_fits(constrained("zone=eu-2a", gpu), in_zones(), fleet), says("fleet"));
  EXPECT_FALSE(why_gang_never_fits(constrained("zone=eu-1a", gpu), in_zones(), fleet));
  const auto gang = why_gang_never_fits(constrained("zone=eu-1b", gpu), in_zones(), fleet);
  ASSERT_TRUE(gang) << "three tasks, and two GPUs in that zone";
  EXPECT_EQ(gang->available, 2);
}

Job gang_of(std::size_t tasks, const Resources& amount) {
  return test::JobBuilder(1).tasks(tasks).gang(true).demand(amount).build();
}

TEST(NeverFits, refuses_a_gang_that_asks_for_more_than_all_of_the_fleet) {
  const Fleet fleet{{TypeId{3}, Market::on_demand, 2}, {TypeId{3}, Market::spot, 1}};
  Job gang = gang_of(3, Resources::of(0, 4, 1));
  EXPECT_FALSE(why_gang_never_fits(gang, table_3(), fleet));
  EXPECT_FALSE(why_gang_never_fits(gang_of(4, Resources::of(0, 4, 1)), table_3(), {}));
  gang.markets = MarketChoice::on_demand;
  const auto refusal = why_gang_never_fits(gang, table_3(), fleet);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(*refusal,
            (Refusal{RefusalKind::never, RefusalCode::fixed_fleet, Resource::cpu, 12, 8}));
  EXPECT_THAT(gang_sentence(*refusal), IsGolden());
  gang.gang = false;
  EXPECT_FALSE(why_gang_never_fits(gang, table_3(), fleet)) << "they run one after the other";
}

TEST(NeverFits, refuses_a_task_that_no_instance_of_the_fleet_holds) {
  const Fleet fleet{{TypeId{3}, Market::on_demand, 2}, {TypeId{0}, Market::spot, 0}};
  EXPECT_FALSE(why_task_never_fits(asking(Resources::of(0, 4, 1)), table_3(), fleet));
  EXPECT_FALSE(why_task_never_fits(asking(Resources::of(0, 99, 1)), table_3(), {}))
      << "what no type holds policies refuse";
  EXPECT_EQ(why_task_never_fits(asking(Resources::of(0, 5, 1)), table_3(), fleet),
            (Refusal{RefusalKind::never, RefusalCode::fixed_fleet, Resource::cpu, 5, 4}));
  const auto on_spot =
      why_task_never_fits(asking(Resources::of(0, 1, 1), MarketChoice::spot), table_3(), fleet);
  EXPECT_EQ(on_spot, (Refusal{RefusalKind::never, RefusalCode::fixed_fleet, {}, 0, 0}));
}

TEST(NeverFits, refuses_a_gang_of_more_distinct_tasks_than_instances_that_take_one) {
  const Fleet fleet{{TypeId{0}, Market::on_demand, 1}, {TypeId{3}, Market::on_demand, 2}};
  Job gang = gang_of(4, Resources::of(0, 1, 1));
  EXPECT_FALSE(why_gang_never_fits(gang, table_3(), fleet));
  gang.most_an_instance = 1;
  const auto refusal = why_gang_never_fits(gang, table_3(), fleet);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(*refusal, (Refusal{RefusalKind::never, RefusalCode::distinct_instances, {}, 4, 3}));
  EXPECT_THAT(gang_sentence(*refusal), IsGolden());
  gang.most_an_instance = 2;
  EXPECT_FALSE(why_gang_never_fits(gang, table_3(), fleet)) << "two share an instance";
}

TEST(NeverFits, counts_the_least_width_of_an_elastic_job) {
  const Fleet fleet{{TypeId{3}, Market::on_demand, 1}};
  Job job = gang_of(8, Resources::of(0, 2, 1));
  job.kind = ElasticSpec{.min_width = 2, .max_width = 8};
  EXPECT_FALSE(why_gang_never_fits(job, table_3(), fleet));
  job.kind = ElasticSpec{.min_width = 3, .max_width = 8};
  EXPECT_TRUE(why_gang_never_fits(job, table_3(), fleet));
}

TEST(NeverFits, names_no_largest_type_of_what_no_type_has_any_of) {
  const Catalog catalog({type_of("small", "a", Resources::of(0, 4, 8), 1),
                         type_of("large", "a", Resources::of(0, 64, 128), 9)});
  EXPECT_THAT(why_never_fits(asking(Resources::of(1000, 1, 1)), catalog, {}), says("gpus"));
  Resources disk = Resources::of(0, 1, 1);
  disk[Resource::storage] = 5;
  EXPECT_THAT(why_never_fits(asking(disk), catalog, {}), says("storage"));
}

TEST(BeyondCaps, says_nothing_of_what_may_run) {
  const Job gang = gang_of(4, Resources::of(4, 16, 244));
  EXPECT_FALSE(why_beyond_caps(gang, table_3(), {}));
  EXPECT_FALSE(why_beyond_caps(gang, table_3(), {4, 48}));
  Job tasks = gang_of(40, Resources::of(4, 16, 244));
  tasks.gang = false;
  EXPECT_FALSE(why_beyond_caps(tasks, table_3(), {1, 12})) << "one after the other";
}

TEST(BeyondCaps, names_the_least_instances_of_a_gang_and_the_cap) {
  EXPECT_THAT(why_beyond_caps(gang_of(4, Resources::of(4, 16, 244)), table_3(), {3, 0}),
              says("at least 4 instances; the cap is 3"));
  Job apart = gang_of(4, Resources::of(0, 1, 1));
  apart.most_an_instance = 1;
  EXPECT_THAT(why_beyond_caps(apart, table_3(), {3, 0}), says("at least 4 instances"));
}

TEST(BeyondCaps, names_the_least_money_of_a_task_or_a_gang_and_the_cap) {
  Job tasks = gang_of(40, Resources::of(4, 16, 244));
  tasks.gang = false;
  EXPECT_THAT(why_beyond_caps(tasks, table_3(), {0, 11.5}),
              says("at least $12 an hour; the cap is $11.5"));
  EXPECT_THAT(why_beyond_caps(gang_of(4, Resources::of(4, 16, 244)), table_3(), {0, 47}),
              says("at least $48 an hour; the cap is $47"));
}

}  // namespace
}  // namespace muster
