#include "schedulers/packing/types/reservation_price.hpp"

#include <gtest/gtest.h>

#include "tests/schedulers/catalogs.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using testing::table_3;
using testing::tasks_of_table_3;
using testing::type_of;

TEST(ReservationPrice, is_the_price_of_the_cheapest_type_that_holds_the_task) {
  const Catalog catalog = table_3();
  const std::vector<Demands> tasks = tasks_of_table_3();
  const double expected_usd_h[] = {12, 3, 0.8, 0.4};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const ReservationPrice price = reservation_price({tasks[i]}, catalog);
    EXPECT_EQ(price.type, TypeId{i});
    EXPECT_EQ(price.usd_h, expected_usd_h[i]);
    EXPECT_EQ(price.usd_per_iteration, expected_usd_h[i]) << "with one speed they are the same";
  }
}

TEST(ReservationPrice, looks_only_at_families_that_the_task_can_run_on) {
  const Demands demands({{"gpu", Resources::of(0, 4, 10), 1}});
  EXPECT_EQ(reservation_price({demands}, table_3()).type, TypeId{1});
}

TEST(ReservationPrice, is_the_least_cost_of_an_iteration_when_families_differ_in_speed) {
  const Catalog catalog({type_of("old", "v100", Resources::of(1, 8, 60), 3),
                         type_of("new", "a100", Resources::of(1, 8, 60), 4)});
  const Demands demands(
      {{"v100", Resources::of(1, 4, 10), 1}, {"a100", Resources::of(1, 4, 10), 2}});
  const ReservationPrice price = reservation_price({demands}, catalog);
  EXPECT_EQ(price.type, TypeId{1}) << "$2 an iteration-hour instead of $3";
  EXPECT_EQ(price.usd_h, 4);
  EXPECT_EQ(price.usd_per_iteration, 2);

  ReservationPrices prices(catalog);
  const ShapeId shape = prices.add({demands});
  EXPECT_EQ(prices.on(shape, TypeId{0}).worth_usd_h, 2) << "half the work an hour there";
  EXPECT_EQ(prices.on(shape, TypeId{1}).worth_usd_h, 4);
}

TEST(ReservationPrice, prefers_the_first_type_of_the_catalog_on_ties) {
  const Catalog catalog({type_of("x", "f", Resources::of(0, 4, 16), 1),
                         type_of("y", "f", Resources::of(0, 8, 16), 1)});
  EXPECT_EQ(reservation_price({Demands(Resources::of(0, 2, 2))}, catalog).type, TypeId{0});
}

TEST(ReservationPrice, refuses_for_good_what_no_type_holds_naming_the_binding_resource) {
  const ReservationPrice price = reservation_price({Demands(Resources::of(0, 20, 8))}, table_3());
  ASSERT_FALSE(price.fits());
  EXPECT_EQ(price.refusal.kind, RefusalKind::never);
  EXPECT_EQ(price.refusal.code, RefusalCode::fits_no_type);
  EXPECT_EQ(price.refusal.binding, Resource::cpu);
  EXPECT_EQ(price.refusal.asked, 20);
  EXPECT_EQ(price.refusal.available, 16);
}

TEST(ReservationPrice, names_what_types_with_enough_of_the_earlier_resources_lack) {
  // 8 cores exist and one GPU exists with 4 cores only; four GPUs come with 16.
  const Catalog catalog({type_of("gpu", "g", Resources::of(1, 4, 61), 3),
                         type_of("cpu", "c", Resources::of(0, 8, 32), 0.8)});
  const ReservationPrice price = reservation_price({Demands(Resources::of(1, 8, 8))}, catalog);
  EXPECT_EQ(price.refusal.binding, Resource::cpu);
  EXPECT_EQ(price.refusal.asked, 8);
  EXPECT_EQ(price.refusal.available, 4) << "among the types that have the GPU";
}

TEST(ReservationPrice, names_no_resource_when_no_family_is_allowed) {
  const Demands demands({{"tpu", Resources::of(1, 1, 1), 1}});
  const ReservationPrice price = reservation_price({demands}, table_3());
  EXPECT_FALSE(price.fits());
  EXPECT_FALSE(price.refusal.binding.has_value());
}

TEST(ReservationPrices, know_a_shape_that_has_taken_the_id_of_another) {
  const Catalog catalog = table_3();
  ClusterState state(catalog);
  ReservationPrices prices(catalog);
  const auto accept = [&](std::uint64_t id, const Demands& demands) {
    Job job = test::JobBuilder(id).build();
    job.tasks.front().demands = demands;
    state.apply({test::at_s(0), JobAccepted{job}});
    prices.learn(state);
    return state.find(TaskId{id})->shape;
  };
  const std::vector<Demands> tasks = tasks_of_table_3();
  const ShapeId first = accept(1, tasks[0]), second = accept(2, tasks[1]);
  EXPECT_EQ(prices.of(first).usd_h, 12);
  state.apply({test::at_s(1), JobFinished{JobId{1}, JobOutcome::cancelled, 1, 0}});
  EXPECT_EQ(accept(3, tasks[3]), first);
  EXPECT_EQ(prices.of(first).usd_h, 0.4);
  EXPECT_FALSE(prices.on(first, TypeId{0}).amount == tasks[0].entries().front().amount);
  EXPECT_EQ(prices.of(second).usd_h, 3);
}

}  // namespace
}  // namespace muster
