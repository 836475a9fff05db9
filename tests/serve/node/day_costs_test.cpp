#include "serve/node/day_costs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/builders.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr double kDay = 86400;
/// Noon of some day.
constexpr double kNoon = 20000 * kDay + kDay / 2;

std::optional<CostView> says(std::vector<CostPart> by) {
  CostView view;
  view.by = std::move(by);
  return view;
}

class DayCostsTest : public ::testing::Test {
 protected:
  using Costs = std::map<std::string, double>;

  void note(DayCosts& costs, double at, std::optional<CostView> m0,
            std::optional<CostView> m1 = says({})) {
    costs.note({std::move(m0), std::move(m1)}, test::at_s(at));
  }
  static Costs of(const DayCosts& costs, double at) {
    Costs by;
    for (const CostPart& part : costs.today(test::at_s(at)).by) by[part.name] = part.usd;
    return by;
  }

  const std::vector<std::string> names_{"m0", "m1"};
};

TEST_F(DayCostsTest, CountsWhatUsersCostSinceItBegan) {
  DayCosts costs(names_);
  note(costs, kNoon, says({}));
  note(costs, kNoon + 60, says({{"ann", 2}}), says({{"ann", 1}, {"bob", 0.5}}));
  EXPECT_THAT(of(costs, kNoon + 60), UnorderedElementsAre(Pair("ann", 3), Pair("bob", 0.5)));
  EXPECT_EQ(costs.today(test::at_s(kNoon + 60)).by.front().name, "ann");
  EXPECT_EQ(to_seconds(costs.today(test::at_s(kNoon + 60)).since), kNoon);
}

TEST_F(DayCostsTest, BeginsEachDayWithWhatWasSpentBefore) {
  DayCosts costs(names_);
  note(costs, kNoon, says({}));
  note(costs, kNoon + kDay / 2 - 30, says({{"ann", 2}}));
  note(costs, kNoon + kDay / 2 + 30, says({{"ann", 2.25}}));
  const DayCostsView today = costs.today(test::at_s(kNoon + kDay / 2 + 30));
  EXPECT_EQ(to_seconds(today.since), kNoon + kDay / 2);
  ASSERT_EQ(today.by.size(), 1U);
  EXPECT_DOUBLE_EQ(today.by[0].usd, 0.25);
}

TEST_F(DayCostsTest, SaysFromWhenOnItCountsWhenNobodyCountedAtMidnight) {
  DayCosts costs(names_);
  note(costs, kNoon, says({}));
  note(costs, kNoon + kDay, says({{"ann", 2}}));
  EXPECT_EQ(to_seconds(costs.today(test::at_s(kNoon + kDay)).since), kNoon);
}

TEST_F(DayCostsTest, CountsOnlyWhatComesOfWhatAnOldClusterSaysFirst) {
  DayCosts costs(names_);
  note(costs, kNoon, says({{"ann", 70}}));
  note(costs, kNoon + 60, says({{"ann", 71}, {"bob", 3}}));
  EXPECT_THAT(of(costs, kNoon + 60), UnorderedElementsAre(Pair("ann", 1), Pair("bob", 3)));
  EXPECT_TRUE(costs.has_heard_all());
}

TEST_F(DayCostsTest, KnowsWhetherItHasHeardAll) {
  DayCosts costs(names_);
  note(costs, kNoon, says({}), std::nullopt);
  EXPECT_FALSE(costs.has_heard_all());
  note(costs, kNoon + 1, std::nullopt, says({}));
  EXPECT_TRUE(costs.has_heard_all());
}

TEST_F(DayCostsTest, KeepsThePartOfAMasterThatIsSilent) {
  DayCosts costs(names_);
  note(costs, kNoon, says({}));
  note(costs, kNoon + 60, says({{"ann", 1}}), says({{"ann", 2}}));
  note(costs, kNoon + 120, says({{"ann", 1.5}}), std::nullopt);
  EXPECT_THAT(of(costs, kNoon + 120), UnorderedElementsAre(Pair("ann", 3.5)));
}

TEST_F(DayCostsTest, CountsSinceAMasterWasHeardThatIsSilentAtMidnight) {
  DayCosts costs(names_);
  note(costs, kNoon, says({}));
  note(costs, kNoon + 60, says({{"ann", 1}}));
  const double midnight = kNoon + kDay / 2;
  note(costs, midnight - 20, says({{"ann", 1}}), std::nullopt);
  note(costs, midnight + 40, says({{"ann", 2}}), says({{"ann", 6}}));
  EXPECT_EQ(to_seconds(costs.today(test::at_s(midnight + 40)).since), kNoon + 60);
}

TEST_F(DayCostsTest, BeginsNoDayAgainWhenTheClockIsPutBack) {
  DayCosts costs(names_);
  const double midnight = kNoon + kDay / 2;
  note(costs, midnight - 60, says({{"ann", 1}}));
  note(costs, midnight + 5, says({{"ann", 1.5}}));
  note(costs, midnight - 5, says({{"ann", 1.5}}));
  note(costs, midnight + 60, says({{"ann", 2}}));
  EXPECT_THAT(of(costs, midnight + 60), UnorderedElementsAre(Pair("ann", 1)));
}

TEST_F(DayCostsTest, BeginsAnewWhereItsFileWasCutShort) {
  const test::TempFile file("day-costs", "20000 1728000000 1728043200\nm0 0 0\nm1 0 0\n");
  DayCosts costs(names_, file.path());
  note(costs, kNoon + 60, says({{"ann", 70}}));
  EXPECT_THAT(of(costs, kNoon + 60), UnorderedElementsAre());
}

TEST_F(DayCostsTest, GoesOnWithWhatAnEarlierProcessHasKept) {
  const test::TempFile file("day-costs", "");
  {
    DayCosts costs(names_, file.path());
    note(costs, kNoon, says({}));
    note(costs, kNoon + 60, says({{"ann b", 2}}));
  }
  DayCosts costs(names_, file.path());
  note(costs, kNoon + 90, says({{"ann b", 2.5}}), says({{"bob", 1}}));
  EXPECT_THAT(of(costs, kNoon + 90), UnorderedElementsAre(Pair("ann b", 2.5), Pair("bob", 1)));
}

}  // namespace
}  // namespace muster
