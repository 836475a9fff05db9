#include "learning/batch_choice.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster {
namespace {

constexpr BatchLimits kCifar{.initial = 128, .largest = 4096, .local_min = 32, .local_max = 1024};

TEST(BatchChoice, TakesAsFewPassesAsTheLocalBatchAllows) {
  EXPECT_EQ(split_batch(kCifar, 2, 2048), (BatchChoice{1024, 0}));
  EXPECT_EQ(split_batch(kCifar, 2, 2049), (BatchChoice{513, 1}));
  EXPECT_EQ(split_batch(kCifar, 3, 4096), (BatchChoice{683, 1}));
}

TEST(BatchChoice, OfOneWorkerBeyondTheInitialBatchTakesTwoPasses) {
  EXPECT_EQ(split_batch(kCifar, 1, 128), (BatchChoice{128, 0}));
  EXPECT_EQ(split_batch(kCifar, 1, 129), (BatchChoice{65, 1}));
  EXPECT_EQ(split_batch(kCifar, 2, 129), (BatchChoice{65, 0}));
}

TEST(BatchChoice, IsCappedAtTheLargestBatch) {
  const BatchChoice choice = split_batch(kCifar, 3, 4096);
  EXPECT_GT(choice.total(3), kCifar.largest);
  EXPECT_EQ(capped_batch(kCifar, 3, choice), (BatchChoice{682, 1}));
}

TEST(BatchChoice, BeginsWithTheLeastBatchThatAllWorkersShare) {
  EXPECT_EQ(first_batch(kCifar, 1), (BatchChoice{128, 0}));
  EXPECT_EQ(first_batch(kCifar, 3), (BatchChoice{43, 0}));
  EXPECT_EQ(first_batch(kCifar, 16), (BatchChoice{32, 0}));
}

TEST(BatchChoice, HasNoCandidatesForMoreWorkersThanTheLargestBatchFeeds) {
  EXPECT_FALSE(batch_candidates(kCifar, 128).empty());
  EXPECT_TRUE(batch_candidates(kCifar, 129).empty());
}

TEST(BatchChoice, PassesAreLeftOutWhereSingleSamplesExceedTheLargestBatch) {
  BatchLimits limits;
  limits.initial = limits.local_min = limits.local_max = 1;
  limits.largest = 63;
  const BatchChoice split = split_batch(limits, 2, 63);
  EXPECT_EQ(split.total(2), 64U);
  EXPECT_EQ(capped_batch(limits, 2, split).total(2), 62U);
}

RC_GTEST_PROP(BatchChoice, CandidatesRiseFromTheLeastToTheLargestBatch, ()) {
  const auto some = [](std::uint32_t low, std::uint32_t high) {
    return *rc::gen::inRange<std::uint32_t>(low, high + 1);
  };
  BatchLimits limits;
  limits.initial = some(1, 300);
  limits.largest = limits.initial + some(0, 10'000);
  limits.local_min = some(1, 40);
  limits.local_max = limits.local_min + some(0, 500);
  const std::uint32_t replicas = some(1, 64);
  std::uint32_t total = 0;
  for (const BatchChoice& choice : batch_candidates(limits, replicas)) {
    RC_ASSERT(choice.local_batch >= limits.local_min && choice.local_batch <= limits.local_max);
    RC_ASSERT(choice.total(replicas) >= limits.initial);
    RC_ASSERT(capped_batch(limits, replicas, choice).total(replicas) <= limits.largest);
    RC_ASSERT(replicas > 1 || choice.accumulation > 0 || choice.local_batch <= limits.initial);
    // Rounding up to whole samples and passes is all that may bring two out of order.
    RC_ASSERT(choice.total(replicas) + replicas * (choice.accumulation + 1) > total);
    total = choice.total(replicas);
  }
}

TEST(BatchChoice, CandidatesBeginAndEndWithTheBoundsExactly) {
  const std::vector<BatchChoice> of_four = batch_candidates(kCifar, 4);
  EXPECT_EQ(of_four.front(), (BatchChoice{32, 0}));
  EXPECT_EQ(of_four.back(), (BatchChoice{1024, 0}));
  EXPECT_LE(of_four.size(), kBatchCandidates);
  const std::vector<BatchChoice> of_one = batch_candidates(kCifar, 1);
  EXPECT_EQ(of_one.front(), (BatchChoice{128, 0}));
  EXPECT_EQ(of_one.back(), (BatchChoice{1024, 3}));
}

TEST(BatchChoice, OneCandidateIsLeftWhereTheLeastBatchIsTheLargest) {
  EXPECT_EQ(batch_candidates(kCifar, 128), (std::vector<BatchChoice>{{32, 0}}));
}

}  // namespace
}  // namespace muster
