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

}  // namespace
}  // namespace muster
