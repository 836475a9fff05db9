#include "schedulers/packing/index/free_capacity_index.hpp"

#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

/// One instance of four cores, that a job of as many may be placed on.
class FreeCapacityIndexTest : public ::testing::Test {
 protected:
  FreeCapacityIndexTest() {
    const TypeId type = test::type_named(catalog_, "it4");
    happen(LaunchRequested{kInstance, type, Market::on_demand, {}, {}});
    happen(InstanceUp{kInstance});
    happen(InstanceReady{kInstance});
    happen(JobAccepted{test::JobBuilder(1).demand(kAll).build()});
    types_.reprice(state_.offerings());
    types_.learn(state_);
    index_.follow(state_, types_, kInstance, test::at_s(3));
  }
  void happen(EventBody body) { state_.apply({test::at_s(0), std::move(body)}); }
  void take_all() {
    const ShapeId shape = state_.find(TaskId{1})->shape;
    index_.take(kInstance, {&shape, 1}, types_);
  }
  bool may_have_grown() const { return index_.may_have_grown(Market::on_demand, kAll); }

  static constexpr InstanceId kInstance{1};
  inline static const Resources kAll = Resources::of(0, 4, 16);
  Catalog catalog_ = test::table3_catalog();
  ClusterState state_{catalog_};
  FeasibleTypes types_{catalog_};
  FreeCapacityIndex index_{types_};
};

TEST_F(FreeCapacityIndexTest, WhatARoundTakesIsNotNewToIt) {
  EXPECT_TRUE(may_have_grown());
  take_all();
  EXPECT_FALSE(may_have_grown());
  EXPECT_EQ(index_.max_free(Market::on_demand)[Resource::cpu], 0);
}

TEST_F(FreeCapacityIndexTest, WhatARoundGivesBackIsNewUntilSomeRoundHasSeenIt) {
  take_all();
  index_.give_all_back(state_);
  EXPECT_TRUE(may_have_grown()) << "a gang's turn may keep what came free for the round after it";
  EXPECT_EQ(index_.max_free(Market::on_demand), kAll);
  index_.forget_freed();
  EXPECT_FALSE(may_have_grown());
}

TEST_F(FreeCapacityIndexTest, WhatWasNotNewIsNotNewWhenItIsGivenBack) {
  index_.forget_freed();
  take_all();
  index_.give_all_back(state_);
  EXPECT_FALSE(may_have_grown());
}

/// How often it is asked whether a task may join an instance, for a job of so many tasks that are
/// kept apart and as many instances.
std::size_t asked_for_job(std::size_t tasks) {
  const Catalog catalog = test::table3_catalog();
  ClusterState state(catalog);
  const auto happen = [&](EventBody body) { state.apply({test::at_s(0), std::move(body)}); };
  const TypeId type = test::type_named(catalog, "it4");
  FeasibleTypes types(catalog);
  FreeCapacityIndex index(types);
  for (std::uint64_t id = 1; id <= tasks; ++id) {
    happen(LaunchRequested{InstanceId{id}, type, Market::on_demand, {}, {}});
    happen(InstanceUp{InstanceId{id}});
    happen(InstanceReady{InstanceId{id}});
  }
  happen(JobAccepted{test::JobBuilder(1).demand(Resources::of(0, 1, 1)).build()});
  types.reprice(state.offerings());
  types.learn(state);
  for (std::uint64_t id = 1; id <= tasks; ++id) {
    index.follow(state, types, InstanceId{id}, test::at_s(3));
  }
  const ShapeId shape = state.find(TaskId{1})->shape;
  PeerRooms peers;
  std::size_t asked = 0;
  const RoomRule rule{{1}, [&](std::uint64_t room) {
                        ++asked;
                        return !peers.is_full(room, {1, 1});
                      }};
  for (std::size_t i = 0; i < tasks; ++i) {
    const auto found = index.best_fit(Market::on_demand, {&shape, 1}, types, rule);
    EXPECT_TRUE(found) << "task " << i;
    if (!found) return asked;
    index.take(*found, {&shape, 1}, types);
    peers.add(found->value, {1, 1});
  }
  EXPECT_FALSE(index.best_fit(Market::on_demand, {&shape, 1}, types, rule));
  EXPECT_EQ(index.max_free(Market::on_demand)[Resource::cpu], 3) << "others may have it";
  EXPECT_TRUE(index.best_fit(Market::on_demand, {&shape, 1}, types));
  peers.remove(1, {1, 1});
  index.give_back(InstanceId{1}, {&shape, 1}, types);
  EXPECT_EQ(index.best_fit(Market::on_demand, {&shape, 1}, types, rule), InstanceId{1});
  return asked;
}

TEST(FreeCapacityIndex, PassesByThePeersOfAJobOnceAndNotOnceATask) {
  const std::size_t few = asked_for_job(500);
  const std::size_t many = asked_for_job(1'000);
  EXPECT_LT(many, 3 * few) << few << " and " << many;
}

}  // namespace
}  // namespace muster
