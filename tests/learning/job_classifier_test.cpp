#include "learning/job_classifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/learning/learnt_text.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using std::chrono::seconds;

Job small_job() {
  return test::JobBuilder(1).demand(Resources::of(0, 1, 2)).workload_class("small").build();
}
Job large_job() {
  return test::JobBuilder(2).demand(Resources::of(0, 32, 64)).workload_class("large").build();
}

ClassifierParams params(ClassifierKind by = ClassifierKind::svm) {
  ClassifierParams params;
  params.by = by;
  params.training.c = {8};
  params.training.gamma = {0.1};
  params.training.coef0 = {0};
  params.max_history = 100;
  params.retrain_after = 50;
  return params;
}

/// Has seen 50 small jobs of 60 s and 50 large ones of an hour.
JobClassifier experienced(ClassifierKind by = ClassifierKind::svm) {
  JobClassifier classifier(params(by));
  for (int i = 0; i < 50; ++i) {
    classifier.learn({small_job(), {}, seconds{60}});
    classifier.learn({large_job(), {}, seconds{3600}});
  }
  return classifier;
}

JobClassifier trained() {
  JobClassifier classifier = experienced();
  classifier.adopt(std::make_shared<const LengthClassifier>(
      train_classifier(classifier.history(), classifier.params().training).classifier));
  return classifier;
}

TEST(JobClassifier, sends_predictable_short_jobs_to_spot_and_long_ones_to_regular_instances) {
  const JobClassifier classifier = trained();
  const Classification small = classifier.classify(small_job(), {});
  EXPECT_EQ(small.length, JobLength::short_run);
  EXPECT_EQ(small.basis, LengthBasis::model);
  EXPECT_GT(small.confidence, 0.8);
  EXPECT_EQ(small.estimate, seconds{60});
  EXPECT_TRUE(small.spot.allowed());
  EXPECT_GE(small.spot.probability, 0.95);
  EXPECT_EQ(small.spot.samples, 49u) << "nothing was known when the first one came";
  const Classification large = classifier.classify(large_job(), {});
  EXPECT_EQ(large.length, JobLength::long_run);
  EXPECT_EQ(large.estimate, seconds{3600});
  EXPECT_EQ(large.spot.reason, SorsReason::long_job);
}

TEST(JobClassifier, goes_by_the_hint_until_it_has_a_classifier_and_without_one_assumes_long) {
  const JobClassifier classifier(params());
  const Classification unknown = classifier.classify(small_job(), {});
  EXPECT_EQ(unknown.length, JobLength::long_run);
  EXPECT_EQ(unknown.basis, LengthBasis::assumption);
  EXPECT_EQ(unknown.estimate, std::nullopt);
  Job hinted = small_job();
  hinted.runtime_hint = seconds{30};
  const Classification short_by_hint = classifier.classify(hinted, {});
  EXPECT_EQ(short_by_hint.length, JobLength::short_run);
  EXPECT_EQ(short_by_hint.basis, LengthBasis::hint);
  EXPECT_EQ(short_by_hint.spot.reason, SorsReason::no_estimate);
}

TEST(JobClassifier, by_hint_takes_the_users_word_but_judges_spot_by_experience) {
  const JobClassifier classifier = experienced(ClassifierKind::hint);
  Job hinted = small_job();
  hinted.runtime_hint = seconds{600};
  const Classification answer = classifier.classify(hinted, {});
  EXPECT_EQ(answer.length, JobLength::short_run) << "the threshold itself is short";
  EXPECT_EQ(answer.estimate, seconds{60});
  EXPECT_TRUE(answer.spot.allowed());
  EXPECT_LT(answer.spot.promised_s, 600);
  EXPECT_EQ(classifier.classify(small_job(), {}).length, JobLength::long_run) << "says nothing";
}

TEST(JobClassifier, by_oracle_nothing_is_uncertain) {
  const JobClassifier classifier(params(ClassifierKind::oracle));
  Job job = small_job();
  job.runtime_hint = seconds{60};
  const Classification answer = classifier.classify(job, {});
  EXPECT_EQ(answer.length, JobLength::short_run);
  EXPECT_EQ(answer.estimate, seconds{60});
  EXPECT_TRUE(answer.spot.allowed());
  EXPECT_EQ(answer.spot.promised_s, 60);
  job.runtime_hint = seconds{601};
  EXPECT_FALSE(classifier.classify(job, {}).spot.allowed());
}

TEST(JobClassifier, by_nothing_every_job_counts_as_long) {
  Job job = small_job();
  job.runtime_hint = seconds{1};
  const Classification answer = experienced(ClassifierKind::none).classify(job, {});
  EXPECT_EQ(answer.length, JobLength::long_run);
  EXPECT_FALSE(answer.spot.allowed());
}

TEST(JobClassifier, keeps_a_bounded_history_and_says_when_to_train) {
  JobClassifier classifier(params());
  EXPECT_FALSE(classifier.due_for_training());
  for (int i = 0; i < 20; ++i) classifier.learn({small_job(), {}, seconds{i}});
  EXPECT_TRUE(classifier.due_for_training());
  classifier.adopt(std::make_shared<const LengthClassifier>(LengthClassifier::always({})));
  for (int i = 20; i < 69; ++i) classifier.learn({small_job(), {}, seconds{i}});
  EXPECT_FALSE(classifier.due_for_training());
  for (int i = 69; i < 150; ++i) classifier.learn({small_job(), {}, seconds{i}});
  EXPECT_TRUE(classifier.due_for_training());
  ASSERT_EQ(classifier.history().size(), 100u);
  EXPECT_EQ(classifier.history().front().runtime, seconds{50});
  EXPECT_EQ(classifier.history().back().runtime, seconds{149});
  EXPECT_FALSE(experienced(ClassifierKind::hint).due_for_training());
}

TEST(JobClassifier, goes_on_from_its_text_as_if_it_had_never_stopped) {
  JobClassifier classifier = trained();
  auto again = JobClassifier::parse(classifier.text(), params());
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->text(), classifier.text());
  for (JobClassifier* one : {&classifier, &again.value()})
    one->learn({small_job(), {}, seconds{90}});
  EXPECT_EQ(again->text(), classifier.text());
  EXPECT_EQ(again->classify(small_job(), {.cpu = 0.5}),
            classifier.classify(small_job(), {.cpu = 0.5}));
  EXPECT_EQ(again->history(), classifier.history());
  EXPECT_TRUE(JobClassifier::parse(JobClassifier(params()).text(), params()).has_value());
}

TEST(JobClassifier, forgets_run_times_that_were_learnt_in_another_way) {
  ClassifierParams other = params();
  other.predict.by = PredictBy::nmae_mean;
  const auto again = JobClassifier::parse(trained().text(), other);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->forecast().groups(), 0u);
  EXPECT_EQ(again->history().size(), 100u) << "the rest is as it was";
  EXPECT_EQ(again->forecast().params(), other.predict);
}

TEST(JobClassifier, says_when_to_save_where_nothing_is_trained) {
  JobClassifier classifier(params(ClassifierKind::hint));
  for (int i = 0; i < 49; ++i) classifier.learn({small_job(), {}, seconds{i}});
  EXPECT_FALSE(classifier.due_for_saving());
  classifier.learn({small_job(), {}, seconds{1}});
  EXPECT_TRUE(classifier.due_for_saving());
  classifier.saved();
  EXPECT_FALSE(classifier.due_for_saving());
  EXPECT_FALSE(experienced().due_for_saving()) << "it is kept with each training";
}

TEST(JobClassifier, reads_no_more_history_than_it_may_keep) {
  ClassifierParams few = params();
  few.max_history = 7;
  const auto again = JobClassifier::parse(trained().text(), few);
  ASSERT_TRUE(again.has_value());
  const auto all = trained().history();
  EXPECT_EQ(again->history(), std::vector<JobSample>(all.end() - 7, all.end()));
}

TEST(JobClassifier, refuses_a_classifier_for_another_threshold) {
  ClassifierParams other = params();
  other.training.threshold = seconds{90};
  const auto refused = JobClassifier::parse(trained().text(), other);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, LearnError::other_threshold);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("600"));
}

TEST(JobClassifier, is_never_made_from_a_damaged_text) {
  test::expect_damage_is_noticed(
      trained().text(), {"sorter", 2},
      [](const std::string& text) {
        auto parsed = JobClassifier::parse(text, params());
        // Another threshold is what some damage comes to.
        if (parsed || parsed.error().code != LearnError::other_threshold) return parsed;
        return Expected<JobClassifier, LearnError>(
            Failure<LearnError>{LearnError::damaged, "line 2: " + parsed.error().message});
      },
      [](const JobClassifier& classifier) {
        const double confidence = classifier.classify(small_job(), {}).confidence;
        ASSERT_TRUE(confidence >= 0 && confidence <= 1);
      });
}

}  // namespace
}  // namespace muster
