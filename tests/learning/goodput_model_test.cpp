#include "learning/goodput_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "learning/throughput_fit.hpp"

namespace muster {
namespace {

constexpr BatchLimits kLimits{.initial = 128, .largest = 4096, .local_min = 32, .local_max = 1024};
constexpr ThroughputParams kTrue{.alpha_c = 0.02,
                                 .beta_c = 0.0006,
                                 .alpha_n = 0.12,
                                 .beta_n = 0.004,
                                 .alpha_r = 0.03,
                                 .beta_r = 0.002,
                                 .gamma = 1.6};

/// What a job measures whose steps are as the model has them.
TrainingSample sample_of(std::uint32_t nodes, std::uint32_t replicas, std::uint32_t local_batch) {
  TrainingSample sample{.nodes = nodes, .replicas = replicas, .local_batch = local_batch};
  sample.step_s = step_s(kTrue, {replicas, nodes > 1}, {local_batch, 0});
  sample.sync_s = sample.step_s - pass_s(kTrue, local_batch);
  sample.grad_sqr = 1;
  sample.grad_var = 20;
  return sample;
}

MeasuredPass pass(std::uint32_t nodes, std::uint32_t replicas, std::uint32_t local_batch) {
  const TrainingSample of = sample_of(nodes, replicas, local_batch);
  return {{replicas, nodes > 1}, local_batch, of.step_s, of.sync_s};
}

GoodputModel observed(const std::vector<TrainingSample>& samples) {
  GoodputModel model(kLimits);
  for (const TrainingSample& sample : samples) EXPECT_TRUE(model.observe(sample));
  return model;
}

/// Steps that take what `params` say, give or take 1 %. Of exact ones the error has an edge where a
/// part of it is 0, at which the method stalls, as SciPy does.
std::vector<MeasuredPass> measured_by(const ThroughputParams& params) {
  std::vector<MeasuredPass> passes;
  for (const std::uint32_t batch : {32, 64, 256, 1024}) {
    for (const WorkerGroup& workers : std::vector<WorkerGroup>{
             {1, false}, {2, false}, {3, false}, {4, false}, {6, true}, {12, true}, {24, true}}) {
      const double off = 1 + 0.01 * std::sin(static_cast<double>(passes.size() * passes.size()));
      const double step = step_s(params, workers, {batch, 0});
      passes.push_back({workers, batch, step * off, (step - pass_s(params, batch)) * off});
    }
  }
  return passes;
}

TEST(ThroughputFit, PredictsStepsThatFollowTheModel) {
  const ThroughputParams found = fit_throughput(measured_by(kTrue));
  EXPECT_NEAR(found.alpha_c / kTrue.alpha_c, 1, 0.05);
  EXPECT_NEAR(found.beta_c / kTrue.beta_c, 1, 0.05);
  for (const std::uint32_t replicas : {2, 8, 16, 48}) {
    const WorkerGroup workers{replicas, true};
    EXPECT_NEAR(step_s(found, workers, {100, 2}) / step_s(kTrue, workers, {100, 2}), 1, 0.03);
  }
}

TEST(ThroughputFit, FindsTheParametersOfStepsWithoutOverlap) {
  ThroughputParams plain = kTrue;
  plain.gamma = 1;
  const ThroughputParams found = fit_throughput(measured_by(plain));
  EXPECT_NEAR(found.gamma, 1, 0.05);
  EXPECT_NEAR(found.beta_c / plain.beta_c, 1, 0.05);
  EXPECT_NEAR(found.alpha_n / plain.alpha_n, 1, 0.1);
  EXPECT_NEAR(found.beta_n / plain.beta_n, 1, 0.1);
  EXPECT_NEAR(found.alpha_r / plain.alpha_r, 1, 0.1);
}

TEST(ThroughputFit, FindsWhatSciPyFinds) {
  // Minima of the same error by scipy.optimize.minimize (1.10.1) within the same bounds.
  struct Case {
    std::vector<MeasuredPass> passes;
    ThroughputParams found;
    double within;
  };
  const Case cases[] = {
      {{{{1, false}, 32, 0.05, 0.0005}, {{2, false}, 32, 0.08, 0.02}, {{4, false}, 64, 0.12, 0.04}},
       {0.0150362807, 0.00109261623, 0.0457204072, 0.0054747547, 0.0415640065, 0.00497704972,
        1.24420871},
       1e-5},
      {{{{1, false}, 32, 0.05, 0.0005},
        {{1, false}, 64, 0.08, 0.0005},
        {{2, false}, 64, 0.095, 0.02},
        {{4, false}, 64, 0.11, 0.03},
        {{6, true}, 32, 0.17, 0.11},
        {{12, true}, 32, 0.19, 0.125},
        {{12, true}, 128, 0.26, 0.11}},
       {0.0223430372, 0.00090545906, 0.124233429, 0.00347218265, 0.0249736479, 0.00949461578,
        1.2386515},
       1e-5}};
  for (const Case& of : cases) {
    const ThroughputParams found = fit_throughput(of.passes);
    EXPECT_NEAR(found.alpha_c, of.found.alpha_c, of.within * of.found.alpha_c);
    EXPECT_NEAR(found.beta_c, of.found.beta_c, of.within * of.found.beta_c);
    EXPECT_NEAR(found.alpha_n, of.found.alpha_n, of.within * of.found.alpha_n);
    EXPECT_NEAR(found.beta_n, of.found.beta_n, of.within * of.found.beta_n);
    EXPECT_NEAR(found.alpha_r, of.found.alpha_r, of.within * of.found.alpha_r);
    EXPECT_NEAR(found.beta_r, of.found.beta_r, of.within * of.found.beta_r);
    EXPECT_NEAR(found.gamma, of.found.gamma, of.within * of.found.gamma);
  }
}

TEST(ThroughputFit, MakesCheapWhatWasNotTried) {
  const ThroughputParams one = fit_throughput(std::vector{pass(1, 1, 64)});
  EXPECT_DOUBLE_EQ(one.alpha_c, pass_s(kTrue, 64) / 2) << "constant and growth, half each";
  EXPECT_EQ(one.alpha_r, kLeastParam_s);
  EXPECT_NEAR(one.alpha_n, kLeastParam_s, 1e-8);
  const ThroughputParams two = fit_throughput(std::vector{pass(1, 1, 64), pass(1, 2, 64)});
  EXPECT_GT(two.alpha_r, 0.01);
  EXPECT_EQ(two.beta_r, kLeastParam_s) << "growth shows from three workers on";
  EXPECT_DOUBLE_EQ(two.alpha_n, 1.1 * two.alpha_r) << "a network is no faster than a node";
  const ThroughputParams spread = fit_throughput(std::vector{pass(1, 1, 64), pass(2, 2, 64)});
  EXPECT_GT(spread.alpha_n, 0.05);
  EXPECT_EQ(spread.alpha_r, kLeastParam_s);
  EXPECT_EQ(spread.beta_n, kLeastParam_s);
}

TEST(GoodputModel, AllowsTwiceTheWidthThatItHasSeen) {
  GoodputModel model(kLimits);
  EXPECT_EQ(model.width_cap(), 1U);
  model.observe(sample_of(1, 1, 128));
  EXPECT_EQ(model.width_cap(), 2U);
  model.observe(sample_of(2, 8, 64));
  EXPECT_EQ(model.width_cap(), 16U);
  model.observe(sample_of(12, 48, 64));
  EXPECT_EQ(model.width_cap(), 64U);
  GoodputModel narrow({.initial = 12, .largest = 36, .local_min = 4, .local_max = 12});
  narrow.observe(sample_of(2, 8, 4));
  EXPECT_EQ(narrow.width_cap(), 9U) << "more workers than the largest batch feeds";
}

TEST(GoodputModel, PredictsGoodputsThatTheTruthConfirms) {
  const GoodputModel model = observed(
      {sample_of(1, 1, 128), sample_of(1, 1, 512), sample_of(1, 4, 128), sample_of(1, 2, 128),
       sample_of(2, 8, 64), sample_of(4, 16, 64), sample_of(2, 8, 256)});
  const GoodputTable table = model.table(model.noise(), 4);
  ASSERT_EQ(table.one_node.size(), 4U);
  ASSERT_EQ(table.several_nodes.size(), 63U);
  for (const std::uint32_t replicas : {2, 4, 8, 32, 64}) {
    const WorkerGroup workers{replicas, true};
    const RatedBatch best = model.best(workers, model.noise());
    EXPECT_EQ(table.at(2, replicas), best.rate_per_s);
    const double scale = best.batch.total(replicas) / 128.0;
    const double truth = step_gain({1, 20}, scale) / step_s(kTrue, workers, best.batch);
    EXPECT_NEAR(best.rate_per_s / truth, 1, 0.05) << replicas;
  }
  EXPECT_LT(table.at(2, 4), table.at(1, 4)) << "the network is slower than a node";
}

TEST(GoodputModel, ChoosesTheLeastBatchBeforeItHasSeenAnything) {
  const GoodputModel model(kLimits);
  EXPECT_EQ(model.choose({8, true}, 1024), (BatchChoice{32, 0}));
}

TEST(GoodputModel, ChoosesLargeBatchesWhereGradientsAreNoisy) {
  TrainingSample calm = sample_of(2, 8, 64);
  calm.grad_sqr = 1;
  calm.grad_var = 0.1;
  TrainingSample noisy = calm;
  noisy.grad_var = 1000;
  const WorkerGroup workers{8, true};
  EXPECT_EQ(observed({sample_of(2, 8, 128), calm}).choose(workers, 1024), (BatchChoice{32, 0}));
  EXPECT_EQ(observed({sample_of(2, 8, 128), noisy}).choose(workers, 1024), (BatchChoice{512, 0}));
  EXPECT_EQ(observed({sample_of(2, 8, 128), noisy}).choose(workers, 256), (BatchChoice{256, 1}));
}

TEST(GoodputModel, IsTheSameForJobsThatShareTheirSamples) {
  const std::vector<TrainingSample> samples = {sample_of(1, 1, 128), sample_of(1, 2, 64),
                                               sample_of(2, 6, 64)};
  GoodputModel shared(kLimits);
  for (int job = 0; job < 5; ++job) {
    for (const TrainingSample& sample : samples) shared.observe(sample);
  }
  const std::uint64_t version = shared.version();
  for (const TrainingSample& sample : samples) shared.observe(sample);
  EXPECT_EQ(shared.version(), version) << "nothing new was measured";
  EXPECT_EQ(shared.params(), observed(samples).params());
}

TEST(GoodputModel, AveragesWhatIsMeasuredAgain) {
  GoodputModel model(kLimits);
  TrainingSample off = sample_of(1, 1, 128);
  for (int i = 0; i < 64; ++i) {
    const double error = i % 2 == 0 ? 0.8 : 1.2;
    TrainingSample sample = off;
    sample.step_s *= error;
    sample.sync_s *= error;
    ASSERT_TRUE(model.observe(sample));
  }
  EXPECT_NEAR(pass_s(*model.params(), 128) / pass_s(kTrue, 128), 1, 0.02);
}

TEST(GoodputModel, LearnsNothingFromImpossibleSamples) {
  GoodputModel model(kLimits);
  std::vector<TrainingSample> wrong(6, sample_of(1, 1, 128));
  wrong[0].sync_s = wrong[0].step_s;
  wrong[1].step_s = std::nan("");
  wrong[2].replicas = 0;
  wrong[3].nodes = 2;
  wrong[4].local_batch = 0;
  wrong[5].grad_var = std::numeric_limits<double>::infinity();
  for (const TrainingSample& sample : wrong) EXPECT_FALSE(model.observe(sample));
  EXPECT_FALSE(model.params().has_value());
  EXPECT_EQ(model.version(), 0U);
}

TEST(GoodputModel, HasBatchesWithinTheirBounds) {
  for (const BatchLimits& wrong :
       {BatchLimits{.initial = 0}, BatchLimits{.initial = 3, .largest = 2},
        BatchLimits{.initial = 1, .largest = kLargestBatch + 1}}) {
    EXPECT_DEATH(GoodputModel{wrong}, "total batch");
  }
  for (const BatchLimits& wrong :
       {BatchLimits{.local_min = 0}, BatchLimits{.local_min = 3, .local_max = 2}}) {
    EXPECT_DEATH(GoodputModel{wrong}, "local batch");
  }
  EXPECT_EQ(GoodputModel({1, kLargestBatch, 1, 1}).version(), 0U);
}

TEST(GoodputModel, GoesOnFromItsTextAsIfItHadNeverStopped) {
  GoodputModel model = observed({sample_of(1, 1, 128), sample_of(1, 2, 64)});
  auto again = parse_goodput(goodput_text(model));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(goodput_text(again.value()), goodput_text(model));
  EXPECT_EQ(goodput_text(parse_goodput(goodput_text(GoodputModel(kLimits))).value()),
            goodput_text(GoodputModel(kLimits)));
  for (GoodputModel* of : {&model, &again.value()}) of->observe(sample_of(3, 12, 64));
  EXPECT_EQ(goodput_text(again.value()), goodput_text(model));
  std::string damaged = goodput_text(model);
  damaged.replace(damaged.find("noise 1"), 7, "noise x");
  EXPECT_EQ(parse_goodput(damaged).error().code, LearnError::damaged);
}

}  // namespace
}  // namespace muster
