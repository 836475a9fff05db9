#include "masters/room_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster {
namespace {

using enum RefusalCode;
using ::testing::UnorderedElementsAre;

std::vector<RefusalCode> those_that(auto holds) {
  std::vector<RefusalCode> all;
  for (std::size_t i = 0; i < kWords<RefusalCode>.size(); ++i) {
    const auto code = static_cast<RefusalCode>(i);
    if (holds(code)) all.push_back(code);
  }
  return all;
}

std::vector<RefusalCode> claimed(bool has_caps) {
  return those_that([&](RefusalCode code) { return can_be_claimed(lack_of(code), has_caps); });
}

std::vector<RefusalCode> in_a_turn(RoomBounds bounds) {
  return those_that([&](RefusalCode code) { return ends_in_a_turn(lack_of(code), bounds); });
}

TEST(RoomLack, RoomThatOthersLeaveIsClaimedFromTheCloudAndUnderCaps) {
  EXPECT_THAT(claimed(false), UnorderedElementsAre(instance_cap, spend_cap, day_cap, cloud_capacity,
                                                   cloud_quota, no_free_machine, kept_room));
  EXPECT_THAT(claimed(true),
              UnorderedElementsAre(instance_cap, spend_cap, day_cap, cloud_capacity, cloud_quota,
                                   no_free_machine, kept_room, over_capacity, awaiting_capacity));
}

TEST(RoomLack, AGangHasATurnWhereOthersHaveItsRoom) {
  EXPECT_THAT(in_a_turn({}),
              UnorderedElementsAre(instance_cap, spend_cap, day_cap, cloud_capacity, cloud_quota,
                                   no_free_machine, cloud_price, cloud_throttled, cloud_failed));
  EXPECT_THAT(in_a_turn({.caps = true}),
              UnorderedElementsAre(instance_cap, spend_cap, day_cap, cloud_capacity, cloud_quota,
                                   no_free_machine, cloud_price, cloud_throttled, cloud_failed,
                                   over_capacity, awaiting_peers));
  EXPECT_THAT(in_a_turn({.fixed_fleet = true}),
              UnorderedElementsAre(instance_cap, spend_cap, day_cap, cloud_capacity, cloud_quota,
                                   no_free_machine, cloud_price, cloud_throttled, cloud_failed,
                                   over_capacity, awaiting_peers, fixed_fleet, awaiting_capacity));
}

TEST(RoomLack, ACloudIsFullWhereAnInstanceLessMayMakeRoom) {
  EXPECT_THAT(those_that(is_full_cloud),
              UnorderedElementsAre(cloud_capacity, cloud_quota, no_free_machine));
}

}  // namespace
}  // namespace muster
