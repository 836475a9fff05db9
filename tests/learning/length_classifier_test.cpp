#include "learning/length_classifier.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "learning/classifier_training.hpp"
#include "tests/learning/learnt_text.hpp"
#include "tests/learning/lengths.hpp"

namespace muster {
namespace {

using test::kLong;
using test::kShort;

JobFeatures features(double cpu, double tasks, double cpu_use) {
  return {cpu, 4 * cpu, 0, 0, tasks, cpu_use, cpu_use, 0, 0};
}

/// A history in which jobs that ask for more run longer, a tenth of them the other way round.
/// About `long_share` of the jobs are long.
std::vector<JobSample> history(std::size_t count, double long_share, std::uint64_t seed = 5) {
  Rng rng(seed);
  std::vector<JobSample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    const bool large = rng.uniform() < long_share;
    const bool is_long = rng.uniform() < 0.1 ? !large : large;
    samples.push_back({features(large ? rng.uniform(20, 200) : rng.uniform(1, 15),
                                1 + static_cast<double>(rng.below(50)), rng.uniform()),
                       std::chrono::seconds{is_long ? 3600 : 30}});
  }
  return samples;
}

/// A small grid: the tests are about what comes of it.
TrainParams quick() {
  TrainParams params;
  params.c = {1, 8};
  params.gamma = {0.03, 0.25};
  params.coef0 = {-1, 0};
  params.folds = 5;
  return params;
}

TEST(ClassifierTraining, learns_a_rule_that_shows_through_noise) {
  const auto trained = train_classifier(history(400, 0.5), quick());
  EXPECT_GT(*trained.report.cross_validated.accuracy(), 0.85);
  EXPECT_EQ(trained.report.cross_validated.total(), 400u);
  EXPECT_EQ(trained.classifier.constant(), std::nullopt);
  const LengthAnswer small = trained.classifier.classify(features(2, 10, 0.5));
  const LengthAnswer large = trained.classifier.classify(features(150, 10, 0.5));
  EXPECT_EQ(small.length, kShort);
  EXPECT_EQ(large.length, kLong);
  EXPECT_NEAR(small.confidence, 0.9, 0.08) << "a tenth of such jobs are long";
  EXPECT_NEAR(large.confidence, 0.9, 0.08);
}

TEST(ClassifierTraining, does_not_give_up_on_a_rare_length_under_balanced_weights) {
  const auto balanced = train_classifier(history(400, 0.05), quick());
  EXPECT_GT(*balanced.report.cross_validated.balanced_accuracy(), 0.6);
  const SigmoidParams& chosen = balanced.report.chosen;
  EXPECT_DOUBLE_EQ(chosen.short_weight * static_cast<double>(balanced.report.shorts),
                   chosen.long_weight * static_cast<double>(balanced.report.longs));
}

TEST(ClassifierTraining, is_the_same_for_the_same_seed_on_any_thread) {
  const auto samples = history(200, 0.4);
  const auto once = train_classifier(samples, quick());
  std::vector<std::string> texts(2);
  std::thread one(
      [&] { texts[0] = classifier_text(train_classifier(samples, quick()).classifier); });
  std::thread other(
      [&] { texts[1] = classifier_text(train_classifier(samples, quick()).classifier); });
  one.join();
  other.join();
  EXPECT_EQ(texts[0], classifier_text(once.classifier));
  EXPECT_EQ(texts[1], texts[0]);
  TrainParams other_seed = quick();
  other_seed.seed = 2;
  EXPECT_NE(classifier_text(train_classifier(samples, other_seed).classifier), texts[0]);
}

TEST(ClassifierTraining, takes_the_first_of_combinations_that_are_equally_good) {
  // Every combination of the grid tells these jobs apart without an error.
  std::vector<JobSample> samples;
  for (int i = 0; i < 40; ++i) {
    const bool is_long = i % 2 == 0;
    samples.push_back({features(is_long ? 200 : 1, is_long ? 50 : 1, is_long ? 1 : 0),
                       std::chrono::seconds{is_long ? 3600 : 30}});
  }
  const TrainReport report = train_classifier(samples, quick()).report;
  ASSERT_EQ(report.cross_validated.accuracy(), 1);
  EXPECT_EQ(report.chosen.c, 1);
  EXPECT_EQ(report.chosen.gamma, 0.03);
  EXPECT_EQ(report.chosen.coef0, -1);
}

TEST(ClassifierTraining, says_how_far_it_is) {
  std::vector<std::size_t> done;
  train_classifier(history(100, 0.5), quick(), [&](std::size_t over, std::size_t all) {
    EXPECT_EQ(all, 8u);
    done.push_back(over);
  });
  EXPECT_EQ(done, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(ClassifierTraining, looks_at_either_length_in_its_proportion_all_over_the_history) {
  TrainParams params = quick();
  params.max_samples = 100;
  const auto samples = history(1000, 0.2);
  const TrainReport report = train_classifier(samples, params).report;
  EXPECT_EQ(report.samples, 1000u);
  EXPECT_EQ(report.used, 100u);
  EXPECT_EQ(report.picked.size(), 100u);
  EXPECT_TRUE(std::is_sorted(report.picked.begin(), report.picked.end()));
  EXPECT_LT(report.picked.front(), 60u);
  EXPECT_GT(report.picked.back(), 940u);
  EXPECT_EQ(std::adjacent_find(report.picked.begin(), report.picked.end()), report.picked.end());
  const auto longs = static_cast<double>(
      std::count_if(samples.begin(), samples.end(), [&](const JobSample& sample) {
        return length_of(sample.runtime, params.threshold) == kLong;
      }));
  EXPECT_NEAR(static_cast<double>(report.longs), longs / 10, 1);
}

TEST(ClassifierTraining, keeps_a_job_of_a_rare_length_for_every_fold) {
  TrainParams params = quick();
  params.max_samples = 50;
  auto samples = history(1000, 0);
  for (JobSample& sample : samples) sample.runtime = std::chrono::seconds{30};
  for (int i = 0; i < 7; ++i) samples[i].runtime = std::chrono::hours{1};
  const TrainReport report = train_classifier(samples, params).report;
  EXPECT_EQ(report.longs, 5u);
  EXPECT_EQ(report.used, 50u);
  EXPECT_EQ(report.folds, 5u);
}

TEST(ClassifierTraining, has_no_more_folds_than_jobs_of_the_rarer_length) {
  auto samples = history(60, 0);
  for (JobSample& sample : samples) sample.runtime = std::chrono::seconds{30};
  samples[10].runtime = samples[20].runtime = samples[30].runtime = std::chrono::hours{1};
  EXPECT_EQ(train_classifier(samples, quick()).report.folds, 3u);
}

TEST(ClassifierTraining, answers_by_the_majority_when_there_is_nothing_to_tell_apart) {
  auto samples = history(60, 0);
  for (JobSample& sample : samples) sample.runtime = std::chrono::seconds{30};
  const auto one_length = train_classifier(samples, quick());
  EXPECT_EQ(one_length.classifier.constant(), (LengthAnswer{kShort, 61.0 / 62}));
  EXPECT_EQ(one_length.report.folds, 0u);
  samples[3].runtime = std::chrono::hours{1};
  EXPECT_EQ(train_classifier(samples, quick()).classifier.constant(),
            (LengthAnswer{kShort, 60.0 / 62}))
      << "one long job cannot be validated";
}

TEST(ClassifierTraining, answers_by_the_majority_when_there_is_too_little_history) {
  auto samples = history(10, 0.5);
  for (std::size_t i = 0; i < 10; ++i) samples[i].runtime = std::chrono::seconds{i < 6 ? 30 : 3600};
  const auto few = train_classifier(samples, quick());
  EXPECT_EQ(few.classifier.classify(features(100, 1, 0)), (LengthAnswer{kShort, 7.0 / 12}));
  const auto none = train_classifier({}, quick());
  EXPECT_EQ(none.classifier.constant(), (LengthAnswer{kLong, 0.5})) << "long is the safe answer";
}

TEST(ClassifierTraining, copes_with_features_that_never_vary) {
  std::vector<JobSample> samples(40, {features(1, 1, 0), std::chrono::seconds{30}});
  for (std::size_t i = 0; i < 10; ++i) samples[4 * i].runtime = std::chrono::hours{1};
  const LengthClassifier classifier = train_classifier(samples, quick()).classifier;
  const LengthAnswer answer = classifier.classify(features(50, 3, 1));
  EXPECT_GE(answer.confidence, 0);
  EXPECT_LE(answer.confidence, 1);
}

TEST(LengthClassifier, reads_back_as_it_was_written) {
  const LengthClassifier machine = train_classifier(history(200, 0.4), quick()).classifier;
  const LengthClassifier constant = LengthClassifier::always({kShort, 0.75});
  for (const LengthClassifier& classifier : {machine, constant}) {
    const auto again = parse_classifier(classifier_text(classifier));
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(again.value(), classifier);
  }
}

TEST(LengthClassifier, is_never_made_from_a_damaged_text) {
  const auto use = [](const LengthClassifier& classifier) {
    const double confidence = classifier.classify(features(5, 5, 0.5)).confidence;
    ASSERT_TRUE(confidence >= 0 && confidence <= 1);
  };
  TrainParams params = quick();
  params.max_samples = 60;
  test::expect_damage_is_noticed(
      classifier_text(train_classifier(history(100, 0.4), params).classifier), "classifier",
      parse_classifier, use);
  test::expect_damage_is_noticed(classifier_text(LengthClassifier::always({kShort, 0.75})),
                                 "classifier", parse_classifier, use);
}

}  // namespace
}  // namespace muster
