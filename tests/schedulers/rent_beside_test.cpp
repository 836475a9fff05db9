#include "schedulers/rent_beside.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/schedulers/catalogs.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;
using ::testing::ElementsAre;

/// Machines of one's own ("own", 4 cores, for nothing) beside two types that are rented.
class RentBeside : public ::testing::Test {
 protected:
  static Catalog types() {
    std::vector<InstanceType> all = {
        testing::type_of("large", "cpu", Resources::of(0, 16, 64), 0.8),
        testing::type_of("own", "own", Resources::of(0, 4, 16), 0),
        testing::type_of("small", "cpu", Resources::of(0, 8, 32), 0.4)};
    return Catalog(std::move(all));
  }

  void tell(const std::string& type, double usd_h, std::optional<std::uint32_t> free,
            bool available = true) {
    OfferingChange change{++changes_, at_s(0), {type, Market::on_demand, {}, {}}};
    change.offering.price = Price::from_usd_h(usd_h);
    change.offering.free = free;
    change.offering.available = available;
    state_.apply({at_s(0), OfferingChanged{change}});
  }
  void submit(std::uint64_t id, double cpus) {
    const Resources demand = Resources::of(0, cpus, cpus);
    state_.apply({at_s(0), JobAccepted{JobBuilder(id).demand(demand).build()}});
  }
  /// Orders an instance of the type for these tasks.
  void order(const std::string& type, const std::vector<std::uint64_t>& tasks) {
    const LaunchIndex launch{static_cast<std::uint32_t>(plan_.launches.size())};
    plan_.launches.push_back({*catalog_.find(type), Market::on_demand, {}});
    for (const std::uint64_t task : tasks) plan_.places.push_back({TaskId{task}, launch, {}});
  }
  std::vector<std::string> ordered() {
    rent_beside(plan_, {state_, catalog_, at_s(0), &state_.offerings(), rests_});
    std::vector<std::string> types;
    for (const Launch& launch : plan_.launches) types.push_back(catalog_[launch.type].name);
    return types;
  }

  Catalog catalog_ = types();
  ClusterState state_{catalog_};
  UnavailableOfferings rests_;
  Plan plan_;
  std::uint64_t changes_ = 0;
};

TEST_F(RentBeside, leaves_a_plan_alone_where_no_machine_is_counted) {
  submit(1, 1);
  order("own", {1});
  EXPECT_THAT(ordered(), ElementsAre("own"));
}

TEST_F(RentBeside, rents_the_cheapest_type_that_holds_what_no_machine_is_left_for) {
  tell("own", 0, 1);
  for (std::uint64_t id = 1; id <= 3; ++id) submit(id, 4);
  order("own", {1});
  order("own", {2});
  order("own", {3});
  EXPECT_THAT(ordered(), ElementsAre("own", "small", "small"));
}

TEST_F(RentBeside, rents_what_holds_all_tasks_of_the_order) {
  tell("own", 0, 0);
  submit(1, 4);
  submit(2, 4);
  submit(3, 1);
  order("own", {1, 2, 3});
  EXPECT_THAT(ordered(), ElementsAre("large"));
}

TEST_F(RentBeside, rents_nothing_that_the_cloud_does_not_have) {
  tell("own", 0, 0);
  tell("small", 0.4, {}, false);
  rests_ = {{{*catalog_.find("large"), Market::on_demand, {}}, RefusalCode::cloud_capacity}};
  submit(1, 1);
  order("own", {1});
  EXPECT_THAT(ordered(), ElementsAre("own"));
}

TEST_F(RentBeside, uses_a_machine_that_is_left_before_it_rents) {
  tell("own", 0, 2);
  for (std::uint64_t id = 1; id <= 4; ++id) submit(id, 2);
  order("small", {1});
  order("small", {2});
  order("own", {3});
  order("small", {4});
  EXPECT_THAT(ordered(), ElementsAre("own", "small", "own", "small"))
      << "the plan's own order for a machine goes first";
}

TEST_F(RentBeside, rents_what_no_machine_holds_or_what_costs_no_more_than_one) {
  tell("own", 0.5, 2);
  submit(1, 6);
  submit(2, 1);
  order("small", {1});
  order("small", {2});
  EXPECT_THAT(ordered(), ElementsAre("small", "small"));
}

TEST_F(RentBeside, has_no_task_run_slower_on_a_machine_than_was_planned) {
  tell("own", 0, 2);
  const Resources demand = Resources::of(0, 1, 1);
  const auto submit_at = [&](std::uint64_t id, double speed) {
    const Demands demands({{"own", demand, speed}, {"cpu", demand, 1}});
    state_.apply({at_s(0), JobAccepted{JobBuilder(id).demands(demands).build()}});
  };
  submit_at(1, 0.5);
  submit_at(2, 1);
  order("small", {1});
  order("small", {2});
  EXPECT_THAT(ordered(), ElementsAre("small", "own"));
}

TEST_F(RentBeside, keeps_grants_and_takes_a_type_that_holds_them) {
  tell("own", 0, 0);
  submit(1, 1);
  order("own", {1});
  plan_.places.back().grant = Grant::of(Resources::of(0, 12, 12));
  EXPECT_THAT(ordered(), ElementsAre("large"));
}

TEST_F(RentBeside, leaves_orders_for_running_tasks_as_they_are) {
  tell("own", 0, 0);
  submit(1, 1);
  state_.apply(
      {at_s(0),
       LaunchRequested{
           InstanceId{7}, *catalog_.find("small"), Market::on_demand, Price::from_usd_h(0.4), {}}});
  state_.apply({at_s(0), TaskAssigned{TaskId{1}, InstanceId{7}, {}}});
  order("own", {1});
  EXPECT_THAT(ordered(), ElementsAre("own"));
}

}  // namespace
}  // namespace muster
