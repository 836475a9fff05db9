#include "learning/recent_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

using Kept = std::vector<std::pair<std::uint64_t, int>>;

Kept kept(const RecentMap<int>& map) {
  Kept all;
  map.each([&](std::uint64_t key, int value) { all.emplace_back(key, value); });
  return all;
}

TEST(RecentMap, MakesAValueWhenItIsTouchedFirst) {
  RecentMap<int> map(2);
  EXPECT_EQ(map.find(5), nullptr);
  map.touch(5) = 50;
  ASSERT_NE(map.find(5), nullptr);
  EXPECT_EQ(*map.find(5), 50);
  EXPECT_EQ(map.size(), 1U);
  map.touch(5) += 1;
  EXPECT_EQ(*map.find(5), 51);
  EXPECT_EQ(map.size(), 1U);
}

TEST(RecentMap, LeavesOutTheOneThatWasTouchedLongestAgo) {
  RecentMap<int> map(2);
  map.touch(9) = 1;
  map.touch(3) = 2;
  map.touch(9);
  map.touch(7) = 3;
  EXPECT_EQ(map.find(3), nullptr);
  EXPECT_THAT(kept(map), ElementsAre(Pair(9, 1), Pair(7, 3)));
  EXPECT_EQ(map.size(), map.capacity());
}

TEST(RecentMap, LookingIsNotTouching) {
  RecentMap<int> map(2);
  map.touch(1);
  map.touch(2);
  EXPECT_NE(map.find(1), nullptr);
  map.touch(3);
  EXPECT_EQ(map.find(1), nullptr);
}

TEST(RecentMap, AValueThatComesBackBeginsAnew) {
  RecentMap<int> map(1);
  map.touch(1) = 10;
  map.touch(2) = 20;
  EXPECT_EQ(map.touch(1), 0);
  EXPECT_THAT(kept(map), ElementsAre(Pair(1, 0)));
}

}  // namespace
}  // namespace muster
