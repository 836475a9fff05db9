#include "learning/training_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Passes of 5 to 40 samples, which take a second a sample, and a second of synchronisation.
PassCurve straight() {
  PassCurve curve;
  curve.add({5, 6, 1});
  curve.add({10, 11, 1});
  curve.add({40, 41, 1});
  return curve;
}

TEST(PassCurve, CoversWhatLiesBetweenItsEnds) {
  EXPECT_FALSE(PassCurve().covers(5));
  const PassCurve curve = straight();
  EXPECT_FALSE(curve.covers(4));
  EXPECT_TRUE(curve.covers(5));
  EXPECT_TRUE(curve.covers(40));
  EXPECT_FALSE(curve.covers(41));
}

TEST(PassCurve, IsExactAtItsPointsAndLinearBetweenThem) {
  const PassCurve curve = straight();
  EXPECT_EQ(curve.at(5).step_s, 6);
  EXPECT_EQ(curve.at(10).step_s, 11);
  EXPECT_EQ(curve.at(40).step_s, 41);
  EXPECT_DOUBLE_EQ(curve.at(7).step_s, 8);
  EXPECT_DOUBLE_EQ(curve.at(20).step_s, 21);
  EXPECT_DOUBLE_EQ(curve.at(20).sync_s, 1);
  EXPECT_EQ(curve.at(20).local_batch, 20U);
}

TEST(PassCurve, SynchronisationIsLinearToo) {
  PassCurve curve;
  curve.add({10, 20, 2});
  curve.add({20, 40, 6});
  EXPECT_DOUBLE_EQ(curve.at(15).sync_s, 4);
  EXPECT_DOUBLE_EQ(curve.at(15).step_s, 30);
}

TEST(PassCurve, WasMeasuredUpToItsEndUnlessSomebodySaysOtherwise) {
  PassCurve curve = straight();
  EXPECT_EQ(curve.profiled_max(), 40U);
  curve.set_profiled_max(20);
  EXPECT_EQ(curve.profiled_max(), 20U);
  curve.set_profiled_max(100);
  EXPECT_EQ(curve.profiled_max(), 40U);
}

TEST(PackedWorkers, FillNodesAndLeaveTheRestToOne) {
  EXPECT_THAT(packed_workers(0), IsEmpty());
  EXPECT_THAT(packed_workers(3), ElementsAre(3U));
  EXPECT_THAT(packed_workers(4), ElementsAre(4U));
  EXPECT_THAT(packed_workers(6), ElementsAre(4U, 2U));
  EXPECT_THAT(packed_workers(8), ElementsAre(4U, 4U));
}

TEST(PlacementCode, IsThatOfTheFirstRotationByTheAlphabet) {
  const auto code = [](const WorkerCounts& workers) { return placement_code(workers); };
  EXPECT_EQ(code({4}), 4U);
  EXPECT_EQ(code({3, 1}), 13U);
  EXPECT_EQ(code({2, 1, 3}), 132U) << "a rotation keeps the order of the nodes";
  EXPECT_EQ(code({1, 2, 3}), 123U);
  EXPECT_EQ(code({2, 1, 2, 1}), 1212U);
}

/// A class of one epoch with constant noise, of which placements on up to four nodes were measured
/// and 17 workers on 5 and on 16 nodes.
TrainingProfile profile() {
  TrainingProfile of;
  of.name = "plain";
  of.limits = {.initial = 10, .largest = 40, .local_min = 5, .local_max = 40};
  of.ends = {100};
  of.validated = {{10, {{.sqr = 1, .var = 1}}}, {30, {{.sqr = 3, .var = 9}}}};
  for (const std::uint32_t code : {1, 2, 4, 14, 44, 444, 1444, 4444}) of.placed[code] = straight();
  of.spread[{5, 17}] = straight();
  of.spread[{16, 17}] = straight();
  return of;
}

TEST(CurveOf, NodesWithMoreWorkersThanWereMeasuredCountAsSeveral) {
  const TrainingProfile of = profile();
  EXPECT_EQ(curve_of(of, WorkerCounts{5}), &of.placed.at(14));
  EXPECT_EQ(curve_of(of, WorkerCounts{8}), &of.placed.at(44));
  EXPECT_EQ(curve_of(of, WorkerCounts{0, 4, 0}), &of.placed.at(4))
      << "nodes without workers do not";
  EXPECT_EQ(curve_of(of, WorkerCounts{3}), nullptr) << "it never was";
}

TEST(CurveOf, OnManyNodesTheirNumberAloneCounts) {
  const TrainingProfile of = profile();
  EXPECT_EQ(curve_of(of, WorkerCounts{4, 4, 4, 4}), &of.placed.at(4444));
  EXPECT_EQ(curve_of(of, WorkerCounts{4, 4, 4, 4, 1}), &of.spread.at({5, 17}));
  EXPECT_EQ(curve_of(of, WorkerCounts{4, 4, 4, 3, 2}), &of.spread.at({5, 17}));
  EXPECT_EQ(curve_of(of, WorkerCounts{4, 4, 4, 4, 2}), nullptr);
  EXPECT_EQ(curve_of(of, WorkerCounts(17, 1)), &of.spread.at({16, 17})) << "17 count as 16";
}

TEST(NoiseAt, IsLinearBetweenBatchesAndConstantBeyondThem) {
  const TrainingProfile of = profile();
  EXPECT_EQ(noise_at(of, 0, 10), (GradientNoise{.sqr = 1, .var = 1}));
  EXPECT_EQ(noise_at(of, 0, 30), (GradientNoise{.sqr = 3, .var = 9}));
  EXPECT_EQ(noise_at(of, 0, 5), (GradientNoise{.sqr = 1, .var = 1}));
  EXPECT_EQ(noise_at(of, 0, 99), (GradientNoise{.sqr = 3, .var = 9}));
  EXPECT_DOUBLE_EQ(noise_at(of, 0, 15).sqr, 1.5);
  EXPECT_DOUBLE_EQ(noise_at(of, 0, 15).var, 3);
}

TEST(BestByTruth, KeepsWithinWhatWasProfiledWhereItIsToldTo) {
  TrainingProfile of = profile();
  PassCurve curve;  // larger passes are far better
  curve.add({5, 5, 0});
  curve.add({40, 5.1, 0});
  curve.set_profiled_max(8);
  of.placed[2] = curve;
  const PlacedWorkers two{&of.placed.at(2), 2};
  EXPECT_EQ(best_by_truth(of, two, 0).batch.local_batch, 20U) << "40 samples of two workers";
  of.oracle_within_profiled = true;
  EXPECT_LE(best_by_truth(of, two, 0).batch.local_batch, 8U);
}

TEST(BestByTruth, OfAPinnedClassIsTheOneBatchIfItWasMeasured) {
  TrainingProfile of = profile();
  of.pinned_total = 20;
  const PlacedWorkers two{&of.placed.at(2), 2};
  const RatedBatch best = best_by_truth(of, two, 0);
  EXPECT_EQ(best.batch, (BatchChoice{10, 0}));
  EXPECT_DOUBLE_EQ(best.rate_per_s, true_rate(of, two, 0, {10, 0}));
  of.pinned_total = 4;
  EXPECT_EQ(best_by_truth(of, two, 0).rate_per_s, 0);
}

TEST(TrueRate, OfAStepIsWhatItGainsOverTheTimeOfItsPasses) {
  TrainingProfile of = profile();
  of.validated = {{10, {{.sqr = 1, .var = 0}}}};  // without noise a larger batch gains nothing
  const PlacedWorkers one{&of.placed.at(1), 1};
  EXPECT_DOUBLE_EQ(true_rate(of, one, 0, {10, 0}), 1.0 / 11);
  EXPECT_DOUBLE_EQ(true_rate(of, one, 0, {10, 2}), 1.0 / (11 + 2 * 10))
      << "passes before the last one do not synchronise";
}

TEST(EpochTime, IsThatOfTheProgressInItWithTheSlowdown) {
  TrainingProfile of = profile();
  of.ends = {100, 130};
  for (ValidatedBatch& batch : of.validated) batch.noise.push_back(batch.noise[0]);
  EXPECT_NEAR(epoch_s(of, 1) / epoch_s(of, 0), 0.3, 1e-12);
  const double plain = epoch_s(of, 0);
  of.slowdown = 2;
  EXPECT_DOUBLE_EQ(epoch_s(of, 0), 2 * plain);
}

TEST(StatedEpochs, AreNoWiderThanTheClassIsAndAsked) {
  TrainingProfile of = profile();
  for (const std::uint32_t code : {3, 11, 12, 22}) of.placed[code] = straight();
  of.max_width = 4;
  EXPECT_EQ(stated_epochs(of, 8).at(0).speedup.size(), 4U);
  EXPECT_EQ(stated_epochs(of, 8).at(0).spread.size(), 3U);
  EXPECT_EQ(stated_epochs(of, 2).at(0).speedup.size(), 2U);
  EXPECT_EQ(stated_epochs(of, 2).at(0).spread.size(), 1U);
  EXPECT_THAT(stated_epochs(of, 1).at(0).speedup, ElementsAre(1));
  EXPECT_THAT(stated_epochs(of, 1).at(0).spread, IsEmpty());
}

}  // namespace
}  // namespace muster
