#include "tools/bound/bound_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/schedulers/packing/bound/small_problems.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/line_with.hpp"

namespace muster::bound {
namespace {

using muster::test::IsGolden;
using muster::test::line_with;
using test::Small;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two of the first kind fit, at 0.9 each; the second is alone.
TrialBound solved(std::uint64_t nodes = kNodes) {
  TrialBound trial;
  trial.seed = 7;
  trial.workload.problem = Small(4, 3, 1, 0.9).kind(2, 18).kind(4, 1).problem();
  trial.workload.tasks = 2;
  trial.workload.work_h = 19;
  trial.workload.alone_usd = 57;
  FluidLimits limits;
  limits.nodes = nodes;
  trial.bound = solve_fluid(trial.workload.problem, limits);
  return trial;
}

TEST(BoundText, NeverRoundsUp) {
  EXPECT_EQ(bound_text(1.239), "1.23");
  EXPECT_EQ(bound_text(410707.909999), "410707.90");
  EXPECT_EQ(bound_text(0), "0.00");
}

TEST(BoundTable, SaysTheBoundAndHowItWasProved) {
  const TrialBound trial = solved();
  const std::string text = bound_table(std::vector{trial});
  EXPECT_THAT(text, HasSubstr("7               32.99 exact            33.00          57.00"));
  EXPECT_THAT(text, HasSubstr("57.9"));  // of each task alone
  EXPECT_THAT(text, HasSubstr("     90.9        10.0  type0            2 x kind0\n"));
  EXPECT_THAT(text, HasSubstr("      9.1         1.0  type0            kind1\n"));
  EXPECT_THAT(text, Not(HasSubstr("cut off")));
}

TEST(BoundTable, SaysWhatTheBoundDoesNotCount) {
  TrialBound trial = solved(1);
  trial.workload.never_fit = 3;
  trial.workload.free = 4;
  trial.workload.tasks = 9;
  trial.workload.interference = false;
  trial.workload.prices_vary = true;
  const std::string text = bound_table(std::vector{trial});
  EXPECT_THAT(text, HasSubstr("Farley"));
  for (const char* of : {"(--nodes)", "3 of 9", "4 of 9", "Interference", "cloud.prices"}) {
    EXPECT_THAT(line_with(text, of), IsGolden());
  }
}

TEST(BoundTable, HasALineATrial) {
  const std::string text = bound_table(std::vector{solved(), solved()});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3 + 1 + 3);
}

TEST(BoundJson, HasAllThatProvesTheBound) {
  const auto json = nlohmann::json::parse(bound_json(std::vector{solved()}));
  ASSERT_EQ(json["bounds"].size(), 1u);
  const auto& bound = json["bounds"][0];
  EXPECT_EQ(bound["seed"], 7);
  EXPECT_EQ(bound["exact"], true);
  EXPECT_EQ(bound["proof"], "exact");
  EXPECT_NEAR(bound["bound_usd"].get<double>(), 33, 1e-3);
  EXPECT_NEAR(bound["share_of_alone"].get<double>(), 33.0 / 57, 1e-6);
  EXPECT_EQ(bound["patterns"][0]["type"], "type0");
  EXPECT_EQ(bound["patterns"][0]["tasks"][0]["count"], 2);
  double worth = 0;
  for (const auto& kind : bound["kinds"]) {
    worth += kind["work_h"].get<double>() * kind["usd_per_work_h"].get<double>();
  }
  EXPECT_NEAR(worth, 33, 1e-3);
}

}  // namespace
}  // namespace muster::bound
