#include "model/index_ranges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace muster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

IndexRanges of(const std::vector<IndexRange>& ranges) {
  IndexRanges made;
  made.add(ranges);
  return made;
}

TEST(IndexRangesTest, RangesThatTouchAreOne) {
  EXPECT_THAT(of({{1, 2}, {5, 6}, {3, 4}}).list(), ElementsAre(IndexRange{1, 6}));
  EXPECT_THAT(of({{4, 9}, {0, 100}}).list(), ElementsAre(IndexRange{0, 100}));
  EXPECT_THAT(of({{7, 7}, {5, 5}}).list(), ElementsAre(IndexRange{5, 5}, IndexRange{7, 7}));
  EXPECT_THAT(of({{7, 7}, {5, 5}}).list(1), ElementsAre(IndexRange{5, 5}));
}

TEST(IndexRangesTest, ReachTheLowestAndTheHighestIndex) {
  const IndexRanges all = of({{0, UINT32_MAX}});
  EXPECT_TRUE(all.contains(0));
  EXPECT_TRUE(all.contains(UINT32_MAX));
  EXPECT_THAT(without(all, of({{0, 0}, {UINT32_MAX, UINT32_MAX}})).list(),
              ElementsAre(IndexRange{1, UINT32_MAX - 1}));
  EXPECT_THAT(without(all, all).list(), IsEmpty());
  EXPECT_THAT(of({{0, UINT32_MAX}, {5, 6}}).list(), ElementsAre(IndexRange{0, UINT32_MAX}));
}

std::set<std::uint32_t> members_of(const IndexRanges& ranges) {
  std::set<std::uint32_t> members;
  for (const IndexRange& each : ranges.list()) {
    for (std::uint32_t i = each.first; i <= each.last; ++i) members.insert(i);
  }
  return members;
}

RC_GTEST_PROP(IndexRangesTest, AreTheSetsThatTheyStandFor, ()) {
  std::array<std::set<std::uint32_t>, 2> sets;
  std::array<IndexRanges, 2> ranges;
  for (std::size_t which = 0; which < 2; ++which) {
    const auto count = *rc::gen::inRange(0, 12);
    for (int i = 0; i < count; ++i) {
      const auto first = *rc::gen::inRange<std::uint32_t>(0, 40);
      const auto last = first + *rc::gen::inRange<std::uint32_t>(0, 6);
      ranges[which].add({first, last});
      for (std::uint32_t at = first; at <= last; ++at) sets[which].insert(at);
    }
    RC_ASSERT(members_of(ranges[which]) == sets[which]);
    const auto list = ranges[which].list();
    for (std::size_t i = 1; i < list.size(); ++i) RC_ASSERT(list[i].first > list[i - 1].last + 1);
  }
  std::set<std::uint32_t> both, rest;
  std::set_intersection(sets[0].begin(), sets[0].end(), sets[1].begin(), sets[1].end(),
                        std::inserter(both, both.end()));
  std::set_difference(sets[0].begin(), sets[0].end(), sets[1].begin(), sets[1].end(),
                      std::inserter(rest, rest.end()));
  RC_ASSERT(members_of(common(ranges[0], ranges[1])) == both);
  RC_ASSERT(members_of(without(ranges[0], ranges[1])) == rest);
  for (std::uint32_t at = 0; at < 48; ++at) {
    RC_ASSERT(ranges[0].contains(at) == sets[0].contains(at));
  }
}

}  // namespace
}  // namespace muster
