#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/replay_setup.hpp"
#include "tests/support/golden.hpp"

// A run in which jobs only wait ends, and says why; one in which something starts slowly goes on.

namespace muster::replay {
namespace {

using namespace std::chrono_literals;
using muster::test::IsGolden;
using test::SmallReplay;
using testing::AllOf;
using testing::HasSubstr;

TEST(MaxIdle, IsNoBoundOnHowLongATaskTakesToStart) {
  for (const std::uint32_t masters : {1U, 2U}) {
    SmallReplay replay;
    replay.job(0, 3600, Resources::of(0, 4, 8));
    replay.workload().jobs[0].job.tasks[0].delays.fetch = 40h;
    replay.config().group.masters = masters;
    const auto run = replay.run("no-packing");
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_TRUE(run->result.not_completed.empty()) << masters;
  }
}

TEST(MaxIdle, IsNoBoundOnHowLongInstancesAreGivenBack) {
  for (const Duration idle : {Duration{1s}, Duration{1min}}) {
    SmallReplay replay;
    replay.job(0, 3600, Resources::of(0, 4, 8)).job(7200, 60, Resources::of(0, 4, 8));
    replay.config().world.max_idle = idle;
    for (const char* policy : {"no-packing", "eva", "muster"}) {
      const auto run = replay.run(policy);
      ASSERT_TRUE(run) << policy << ": " << run.error().message;
      EXPECT_TRUE(run->result.not_completed.empty()) << policy;
    }
  }
}

TEST(MaxIdle, IsNamedWhereItEndsARun) {
  SmallReplay replay;
  replay.job(0, 3600, Resources::of(0, 4, 8));
  replay.config().master.caps.max_instances = 0;
  replay.config().master.caps.max_usd_h = 1e-6;
  const auto run = replay.run("no-packing");
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->result.not_completed.size(), 1U);
  EXPECT_THAT(run->result.not_completed[0].second,
              AllOf(HasSubstr("(world.max_idle)"), IsGolden()));
}

}  // namespace
}  // namespace muster::replay
