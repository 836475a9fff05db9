#include "learning/class_goodput.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "learning/throughput_fit.hpp"

namespace muster {
namespace {

using testing::HasSubstr;

constexpr BatchLimits kLimits{.initial = 128, .largest = 4096, .local_min = 32, .local_max = 1024};
constexpr ThroughputParams kTrue{.alpha_c = 0.02,
                                 .beta_c = 0.0006,
                                 .alpha_n = 0.12,
                                 .beta_n = 0.004,
                                 .alpha_r = 0.03,
                                 .beta_r = 0.002,
                                 .gamma = 1.6};
constexpr std::uint32_t kNodeHolds = 4;

/// A step of a job whose gradient is so noisy.
TrainingSample sample_of(std::uint32_t replicas, std::uint32_t local_batch, double grad_var) {
  const std::uint32_t nodes = (replicas + kNodeHolds - 1) / kNodeHolds;
  TrainingSample sample{.nodes = nodes, .replicas = replicas, .local_batch = local_batch};
  sample.step_s = step_s(kTrue, {replicas, nodes > 1}, {local_batch, 0});
  sample.sync_s = sample.step_s - pass_s(kTrue, local_batch);
  sample.grad_sqr = 1;
  sample.grad_var = grad_var;
  return sample;
}

/// A class of three epochs that was seen with 1, 2, 4 and 8 workers at a progress of `done`.
ClassGoodput seen_at(double done, double grad_var) {
  ClassGoodput goodput(kLimits, {100, 200, 300});
  for (const std::uint32_t replicas : {1, 2, 4, 8}) {
    for (const std::uint32_t batch : {64, 256, 1024}) {
      EXPECT_TRUE(goodput.observe(done, sample_of(replicas, batch, grad_var)));
    }
  }
  return goodput;
}

TEST(ClassGoodput, KnowsOnlyTheEndsBeforeTheFirstSample) {
  const ClassGoodput goodput(kLimits, {100, 300});
  const ElasticEpochs epochs = goodput.epochs(kNodeHolds);
  ASSERT_EQ(epochs.all().size(), 2U);
  EXPECT_EQ(epochs.all()[1].until, 300);
  EXPECT_EQ(epochs.all()[0].rate_per_s, 0);
  EXPECT_TRUE(epochs.all()[0].speedup.empty());
  EXPECT_EQ(goodput.width_cap(), 1U);
}

TEST(ClassGoodput, SpeedsAreThoseOfTheBestBatchesOfItsModel) {
  const ClassGoodput goodput = seen_at(150, 400);
  const ElasticEpochs epochs = goodput.epochs(kNodeHolds);
  const ElasticEpoch& epoch = epochs.all()[1];
  const GradientNoise noise{1, 400};
  ASSERT_EQ(epoch.speedup.size(), 16U);
  EXPECT_DOUBLE_EQ(epoch.rate_per_s, goodput.model().best({1, false}, noise).rate_per_s);
  for (const std::uint32_t width : {1, 4, 5, 16}) {
    const RatedBatch best = goodput.model().best({width, width > kNodeHolds}, noise);
    EXPECT_DOUBLE_EQ(epoch.speedup[width - 1] * epoch.rate_per_s, best.rate_per_s) << width;
  }
}

TEST(ClassGoodput, AnEpochInWhichNobodyWasSeenIsAsTheOneBeforeIt) {
  ClassGoodput goodput = seen_at(50, 100);
  ASSERT_TRUE(goodput.observe(299, sample_of(8, 1024, 10'000)));
  const ElasticEpochs epochs = goodput.epochs(kNodeHolds);
  EXPECT_EQ(epochs.all()[1].speedup, epochs.all()[0].speedup);
  EXPECT_GT(epochs.all()[2].speedup[15], epochs.all()[1].speedup[15]);
}

TEST(ClassGoodput, EpochsBeforeAllThatWereSeenAreAsTheFirstOfThese) {
  const ElasticEpochs epochs = seen_at(250, 100).epochs(kNodeHolds);
  EXPECT_EQ(epochs.all()[0].speedup, epochs.all()[2].speedup);
}

TEST(ClassGoodput, JobsOfAClassLearnFromEachOther) {
  ClassGoodput goodput(kLimits, {100});
  ASSERT_TRUE(goodput.observe(10, sample_of(1, 128, 100)));
  EXPECT_EQ(goodput.epochs(kNodeHolds).all()[0].speedup.size(), 2U);
  ASSERT_TRUE(goodput.observe(90, sample_of(8, 128, 100)));
  EXPECT_EQ(goodput.epochs(kNodeHolds).all()[0].speedup.size(), 16U);
}

TEST(ClassGoodput, TakesNoImpossibleSample) {
  ClassGoodput goodput(kLimits, {100});
  TrainingSample sample = sample_of(1, 128, 100);
  sample.sync_s = sample.step_s;
  EXPECT_FALSE(goodput.observe(10, sample));
  EXPECT_EQ(goodput.epochs(kNodeHolds).all()[0].rate_per_s, 0);
}

TEST(ClassGoodput, IsTheSameAfterWritingAndReading) {
  const ClassGoodput goodput = seen_at(150, 400);
  const std::string text = class_goodput_text(goodput);
  const auto read = parse_class_goodput(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(class_goodput_text(read.value()), text);
  EXPECT_EQ(read->epochs(kNodeHolds), goodput.epochs(kNodeHolds));
}

TEST(ClassGoodput, ADamagedTextIsAnErrorThatNamesTheLine) {
  ModelWriter out;
  out.line("limits").whole(0);
  const auto read = parse_class_goodput(seal_model("class-goodput", 1, std::move(out).text()));
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().message, HasSubstr("line 2"));
}

}  // namespace
}  // namespace muster
