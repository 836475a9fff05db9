#include "learning/training_agent.hpp"

#include <gtest/gtest.h>

#include <array>

namespace muster {
namespace {

/// A class of two epochs whose passes take 10 ms and 1 ms a sample, and which synchronises for as
/// long as it has workers, in ms.
TrainingProfile plain_profile() {
  TrainingProfile profile;
  profile.name = "plain";
  profile.limits = {.initial = 10, .largest = 40, .local_min = 5, .local_max = 20};
  profile.ends = {100, 250};
  const GradientNoise noise{.sqr = 1, .var = 1};
  profile.validated = {{10, {noise, noise}}, {40, {noise, {.sqr = 1, .var = 4}}}};
  const auto curve_with = [](std::uint32_t workers) {
    PassCurve curve;
    const double sync_s = workers * 1e-3;
    curve.add({5, 0.015 + sync_s, sync_s});
    curve.add({20, 0.03 + sync_s, sync_s});
    return curve;
  };
  for (const std::uint32_t code : {1, 2, 11, 3, 12, 4, 112}) {
    std::uint32_t workers = 0;
    for (std::uint32_t rest = code; rest > 0; rest /= 10) workers += rest % 10;
    profile.placed[code] = curve_with(workers);
  }
  profile.spread[{5, 5}] = curve_with(5);
  return profile;
}

TrainingAgent agent_of(TrainingProfile profile, AgentMode mode) {
  return {std::make_shared<const TrainingProfile>(std::move(profile)), mode};
}

bool place(TrainingAgent& agent, const std::vector<std::uint32_t>& workers) {
  return agent.place(workers);
}

TEST(TrainingProfile, KnowsAPlacementByItsRotations) {
  const std::array<std::uint32_t, 3> turned = {2, 1, 1};
  EXPECT_EQ(placement_code(turned), 112U);
  EXPECT_EQ(packed_workers(9), (WorkerCounts{4, 4, 1}));
  const TrainingProfile profile = plain_profile();
  EXPECT_NE(curve_of(profile, WorkerCounts{1, 2, 1}), nullptr);
  EXPECT_NE(curve_of(profile, WorkerCounts(5, 1)), nullptr) << "by nodes and workers alone";
  EXPECT_EQ(curve_of(profile, WorkerCounts{4, 4}), nullptr);
  EXPECT_EQ(curve_of(profile, WorkerCounts{}), nullptr);
  for (const std::uint32_t never : {0U, 5U}) {
    EXPECT_DEATH(placement_code(WorkerCounts{1, never}), "as it was measured") << never;
  }
}

TEST(TrainingProfile, IsLinearBetweenWhatWasMeasured) {
  const TrainingProfile profile = plain_profile();
  EXPECT_DOUBLE_EQ(profile.placed.at(2).at(10).step_s, 0.022);
  EXPECT_DOUBLE_EQ(noise_at(profile, 1, 20).var, 2);
  EXPECT_DOUBLE_EQ(noise_at(profile, 1, 80).var, 4);
  // One pass that accumulates costs its time without synchronisation.
  const PlacedWorkers two{&profile.placed.at(2), 2};
  EXPECT_DOUBLE_EQ(true_rate(profile, two, 0, {10, 1}), 2 / (1 / 4.0 + 1) / (0.022 + 0.02));
}

TEST(TrainingProfile, StatesSpeedupsOfPackedAndOfSpreadWorkers) {
  TrainingProfile profile = plain_profile();
  profile.max_width = 4;
  profile.slowdown = 2;
  const std::vector<ElasticEpoch> epochs = stated_epochs(profile, 3);
  ASSERT_EQ(epochs.size(), 2U);
  EXPECT_EQ(epochs[1].until, 250);
  EXPECT_EQ(epochs[0].speedup.size(), 3U);
  EXPECT_EQ(epochs[0].speedup[0], 1);
  EXPECT_EQ(epochs[0].spread.size(), 2U);
  EXPECT_DOUBLE_EQ(epochs[0].rate_per_s * epoch_s(profile, 0), 100);
  EXPECT_GT(epochs[1].speedup[2], epochs[0].speedup[2]) << "the gradient becomes noisier";
}

TEST(TrainingAgent, OfAnOracleRunsAtTheBestRate) {
  TrainingAgent agent = agent_of(plain_profile(), AgentMode::oracle);
  EXPECT_EQ(agent.choose(0), 0) << "without workers";
  EXPECT_FALSE(agent.sample().has_value());
  ASSERT_TRUE(place(agent, {2, 1}));
  const TrainingProfile& profile = agent.profile();
  const RatedBatch best = best_by_truth(profile, {&profile.placed.at(12), 3}, 1);
  EXPECT_EQ(agent.choose(1), best.rate_per_s);
  EXPECT_EQ(agent.batch(), best.batch);
  EXPECT_EQ(agent.sample()->nodes, 2U);
  EXPECT_EQ(agent.sample()->replicas, 3U);
  EXPECT_FALSE(agent.model().params().has_value());
}

TEST(TrainingAgent, LearnsFromEachStepForTheNextChoice) {
  TrainingAgent agent = agent_of(plain_profile(), AgentMode::learned);
  ASSERT_TRUE(place(agent, {2}));
  agent.choose(0);
  EXPECT_EQ(agent.batch(), (BatchChoice{5, 0})) << "the least batch";
  EXPECT_EQ(agent.model().width_cap(), 4U);
  const std::uint64_t version = agent.model().version();
  agent.choose(0);
  EXPECT_GT(agent.batch().local_batch, 5U);
  EXPECT_GT(agent.model().version(), version);
}

TEST(TrainingAgent, MeasuresWhatASlowJobTakes) {
  TrainingProfile profile = plain_profile();
  TrainingAgent fast = agent_of(profile, AgentMode::oracle);
  profile.slowdown = 1.8;
  TrainingAgent slow = agent_of(profile, AgentMode::oracle);
  ASSERT_TRUE(place(fast, {4}) && place(slow, {4}));
  EXPECT_DOUBLE_EQ(slow.choose(0) * 1.8, fast.choose(0));
  EXPECT_DOUBLE_EQ(slow.sample()->step_s, fast.sample()->step_s * 1.8);
}

TEST(TrainingAgent, MakesNoProgressWhereNothingWasMeasured) {
  TrainingAgent agent = agent_of(plain_profile(), AgentMode::learned);
  EXPECT_FALSE(place(agent, {4, 4}));
  EXPECT_EQ(agent.choose(0), 0);
  EXPECT_TRUE(place(agent, {}));
  EXPECT_EQ(agent.choose(0), 0);
}

TEST(TrainingAgent, OfAPinnedClassHasOneBatch) {
  TrainingProfile profile = plain_profile();
  profile.pinned_total = 40;
  for (const AgentMode mode : {AgentMode::oracle, AgentMode::learned}) {
    TrainingAgent agent = agent_of(profile, mode);
    ASSERT_TRUE(place(agent, {1}));
    agent.choose(0);
    agent.choose(1);
    EXPECT_EQ(agent.batch(), (BatchChoice{20, 1})) << name_of(mode);
    EXPECT_EQ(named<AgentMode>(name_of(mode)), mode);
  }
}

}  // namespace
}  // namespace muster
