// Whole clusters in many orders of events: the invariants of every run hold in all of them.

#include <gtest/gtest.h>

#include "tests/replay/random_cluster.hpp"

namespace muster::replay {
namespace {

class Interleavings : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Interleavings, EveryJobIsAccountedForAndEveryLawHolds) {
  const std::uint64_t seed = GetParam();
  const test::SmallReplay replay = test::random_cluster(seed);
  for (const char* policy :
       {"no-packing", "eva", "eva,full-only", "eva,artifact", "eva,single", "hcoop"}) {
    const auto run = replay.run(policy, seed, seed);
    ASSERT_TRUE(run.has_value()) << "seed " << seed << ", " << policy << ": "
                                 << run.error().message;
    const metrics::RunResult& result = run->result;
    EXPECT_EQ(result.jobs_completed + result.not_completed.size(), result.jobs_submitted)
        << "seed " << seed << ", " << policy;
    for (const auto& [job, reason] : result.not_completed) {
      EXPECT_NE(reason.find("fits no type"), std::string::npos)
          << "seed " << seed << ", " << policy << ": job " << job << ": " << reason;
    }
  }
}

TEST_P(Interleavings, ServicesRunUntilTheirUsersEndThemAndEveryLawHolds) {
  const std::uint64_t seed = GetParam();
  const test::SmallReplay replay = test::random_services(seed);
  for (const char* policy : {"no-packing", "eva", "hcoop", "muster"}) {
    const auto run = replay.run(policy, seed, seed);
    ASSERT_TRUE(run.has_value()) << "seed " << seed << ", " << policy << ": "
                                 << run.error().message;
    const metrics::RunResult& result = run->result;
    ASSERT_TRUE(result.services) << seed;
    EXPECT_EQ(result.jobs_completed + result.services->ended + result.not_completed.size(),
              result.jobs_submitted + result.services->submitted)
        << "seed " << seed << ", " << policy;
    for (const auto& [job, reason] : result.not_completed) {
      EXPECT_NE(reason.find("fits no type"), std::string::npos)
          << "seed " << seed << ", " << policy << ": job " << job << ": " << reason;
    }
    EXPECT_LE(result.services->goal_h, result.services->ready_h + 1e-9);
    EXPECT_LE(result.services->ready_h, result.services->wanted_h + 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Interleavings, ::testing::Range<std::uint64_t>(1, 41));

}  // namespace
}  // namespace muster::replay
