// Whole clusters on links that repeat what was said, much later too: nothing runs twice, nothing is
// rented twice, and the invariants of every run hold.

#include <gtest/gtest.h>

#include "tests/replay/random_cluster.hpp"
#include "tests/simulation/echoing_links.hpp"

namespace muster::replay {
namespace {

class RepeatedMessages : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RepeatedMessages, ChangeNothingOfWhatHappens) {
  const std::uint64_t seed = GetParam();
  const test::SmallReplay cluster = test::random_cluster(seed);
  for (const char* policy : {"no-packing", "eva", "eva,full-only"}) {
    muster::test::EchoPlan plan(seed);
    RunSetup setup = cluster.setup(policy, seed, std::nullopt);
    setup.link_cloud = [&plan](caf::actor_system& system, const CloudForMasters& cloud) {
      return CloudForMasters{system.spawn<muster::test::CloudLink>(std::ref(plan), cloud)};
    };
    const auto echoed = run_replay(setup);
    ASSERT_TRUE(echoed.has_value())
        << "seed " << seed << ", " << policy << ": " << echoed.error().message;
    const auto quiet = cluster.run(policy, seed).value();
    EXPECT_GT(plan.echoes, 0U);
    EXPECT_EQ(echoed->result.jobs_completed, quiet.result.jobs_completed) << seed << policy;
    EXPECT_EQ(echoed->result.instances_launched, quiet.result.instances_launched) << seed << policy;
    EXPECT_EQ(echoed->result.total_cost_usd, quiet.result.total_cost_usd) << seed << policy;
    EXPECT_EQ(echoed->events.size(), quiet.events.size()) << "seed " << seed << ", " << policy;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RepeatedMessages, ::testing::Range<std::uint64_t>(1, 31));

}  // namespace
}  // namespace muster::replay
