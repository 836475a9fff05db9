#include "model/roster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Roster, NumbersNamesInTheOrderOfTheFirstFile) {
  const ClusterRoster roster = with_names({}, {{"tokyo", "london"}, {"m2", "m1"}});
  EXPECT_THAT(roster.sites, ElementsAre(Pair("london", 1), Pair("tokyo", 0)));
  EXPECT_THAT(roster.masters, ElementsAre(Pair("m1", 1), Pair("m2", 0)));
}

TEST(Roster, KeepsNumbersWhateverTheOrderOfALaterFile) {
  const ClusterRoster first = with_names({}, {{"a", "b"}, {"m0", "m1"}});
  EXPECT_EQ(with_names(first, {{"b", "a"}, {"m1", "m0"}}), first);
}

TEST(Roster, GivesLaterNamesNumbersAfterTheHighestAndNoNumberTwice) {
  const ClusterRoster first = with_names({}, {{"a"}, {"m0", "m1", "m2"}});
  const ClusterRoster without_the_last = with_names(first, {{"a"}, {"m0", "m1"}});
  const ClusterRoster later = with_names(without_the_last, {{"a"}, {"m9", "m0", "m3"}});
  EXPECT_THAT(later.masters, ElementsAre(Pair("m0", 0), Pair("m1", 1), Pair("m2", 2), Pair("m3", 4),
                                         Pair("m9", 3)));
}

TEST(Roster, SaysWhichNameHasTwoNumbers) {
  EXPECT_EQ(contradiction(with_names({}, {{"a"}, {"m0", "m1"}}), "node n1",
                          with_names({}, {{"a"}, {"m1", "m0"}}), "node n2"),
            "master m0 is number 0 in node n1 and number 1 in node n2");
}

TEST(Roster, SaysWhichNumberHasTwoNames) {
  EXPECT_THAT(
      contradiction(with_names({}, {{"a"}, {}}), "node n1", with_names({}, {{"b"}, {}}), "node n2"),
      IsGolden());
}

TEST(Roster, ANameThatOnlyOneSideHasYetIsNoContradiction) {
  const ClusterRoster before = with_names({}, {{"a"}, {"m0"}});
  const ClusterRoster after = with_names(before, {{"a", "b"}, {"m0", "m1"}});
  EXPECT_EQ(contradiction(before, "n1", after, "n2"), "");
  EXPECT_EQ(joined(before, after), after);
}

}  // namespace
}  // namespace muster
