#include "learning/job_sorter.hpp"

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

SorterParams params(SortBy by = SortBy::svm) {
  SorterParams params;
  params.by = by;
  params.training.c = {8};
  params.training.gamma = {0.1};
  params.training.coef0 = {0};
  params.max_history = 100;
  params.retrain_after = 50;
  return params;
}

/// Has seen 50 small jobs of 60 s and 50 large ones of an hour.
JobSorter experienced(SortBy by = SortBy::svm) {
  JobSorter sorter(params(by));
  for (int i = 0; i < 50; ++i) {
    sorter.learn({small_job(), {}, seconds{60}});
    sorter.learn({large_job(), {}, seconds{3600}});
  }
  return sorter;
}

JobSorter trained() {
  JobSorter sorter = experienced();
  sorter.adopt(std::make_shared<const LengthClassifier>(
      train_classifier(sorter.history(), sorter.params().training).classifier));
  return sorter;
}

TEST(JobSorter, sends_predictable_short_jobs_to_spot_and_long_ones_to_regular_instances) {
  const JobSorter sorter = trained();
  const Classification small = sorter.classify(small_job(), {});
  EXPECT_EQ(small.length, JobLength::short_run);
  EXPECT_EQ(small.basis, LengthBasis::model);
  EXPECT_GT(small.confidence, 0.8);
  EXPECT_EQ(small.estimate, seconds{60});
  EXPECT_TRUE(small.spot.allowed());
  EXPECT_GE(small.spot.probability, 0.95);
  EXPECT_EQ(small.spot.samples, 49u) << "nothing was known when the first one came";
  const Classification large = sorter.classify(large_job(), {});
  EXPECT_EQ(large.length, JobLength::long_run);
  EXPECT_EQ(large.estimate, seconds{3600});
  EXPECT_EQ(large.spot.reason, SorsReason::long_job);
}

TEST(JobSorter, goes_by_the_hint_until_it_has_a_classifier_and_without_one_assumes_long) {
  const JobSorter sorter(params());
  const Classification unknown = sorter.classify(small_job(), {});
  EXPECT_EQ(unknown.length, JobLength::long_run);
  EXPECT_EQ(unknown.basis, LengthBasis::assumption);
  EXPECT_EQ(unknown.estimate, std::nullopt);
  Job hinted = small_job();
  hinted.runtime_hint = seconds{30};
  const Classification short_by_hint = sorter.classify(hinted, {});
  EXPECT_EQ(short_by_hint.length, JobLength::short_run);
  EXPECT_EQ(short_by_hint.basis, LengthBasis::hint);
  EXPECT_EQ(short_by_hint.spot.reason, SorsReason::no_estimate);
}

TEST(JobSorter, by_hint_takes_the_users_word_but_judges_spot_by_experience) {
  const JobSorter sorter = experienced(SortBy::hint);
  Job hinted = small_job();
  hinted.runtime_hint = seconds{600};
  const Classification answer = sorter.classify(hinted, {});
  EXPECT_EQ(answer.length, JobLength::short_run) << "the threshold itself is short";
  EXPECT_EQ(answer.estimate, seconds{60});
  EXPECT_TRUE(answer.spot.allowed());
  EXPECT_LT(answer.spot.promised_s, 600);
  EXPECT_EQ(sorter.classify(small_job(), {}).length, JobLength::long_run) << "says nothing";
}

TEST(JobSorter, by_oracle_nothing_is_uncertain) {
  const JobSorter sorter(params(SortBy::oracle));
  Job job = small_job();
  job.runtime_hint = seconds{60};
  const Classification answer = sorter.classify(job, {});
  EXPECT_EQ(answer.length, JobLength::short_run);
  EXPECT_EQ(answer.estimate, seconds{60});
  EXPECT_TRUE(answer.spot.allowed());
  EXPECT_EQ(answer.spot.promised_s, 60);
  job.runtime_hint = seconds{601};
  EXPECT_FALSE(sorter.classify(job, {}).spot.allowed());
}

TEST(JobSorter, by_nothing_every_job_counts_as_long) {
  Job job = small_job();
  job.runtime_hint = seconds{1};
  const Classification answer = experienced(SortBy::none).classify(job, {});
  EXPECT_EQ(answer.length, JobLength::long_run);
  EXPECT_FALSE(answer.spot.allowed());
}

TEST(JobSorter, keeps_a_bounded_history_and_says_when_to_train) {
  JobSorter sorter(params());
  EXPECT_FALSE(sorter.due_for_training());
  for (int i = 0; i < 20; ++i) sorter.learn({small_job(), {}, seconds{i}});
  EXPECT_TRUE(sorter.due_for_training());
  sorter.adopt(std::make_shared<const LengthClassifier>(LengthClassifier::always({})));
  for (int i = 20; i < 69; ++i) sorter.learn({small_job(), {}, seconds{i}});
  EXPECT_FALSE(sorter.due_for_training());
  for (int i = 69; i < 150; ++i) sorter.learn({small_job(), {}, seconds{i}});
  EXPECT_TRUE(sorter.due_for_training());
  ASSERT_EQ(sorter.history().size(), 100u);
  EXPECT_EQ(sorter.history().front().runtime, seconds{50});
  EXPECT_EQ(sorter.history().back().runtime, seconds{149});
  EXPECT_FALSE(experienced(SortBy::hint).due_for_training());
}

TEST(JobSorter, goes_on_from_its_text_as_if_it_had_never_stopped) {
  JobSorter sorter = trained();
  auto again = JobSorter::parse(sorter.text(), params());
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->text(), sorter.text());
  for (JobSorter* one : {&sorter, &again.value()}) one->learn({small_job(), {}, seconds{90}});
  EXPECT_EQ(again->text(), sorter.text());
  EXPECT_EQ(again->classify(small_job(), {.cpu = 0.5}), sorter.classify(small_job(), {.cpu = 0.5}));
  EXPECT_EQ(again->history(), sorter.history());
  EXPECT_TRUE(JobSorter::parse(JobSorter(params()).text(), params()).has_value());
}

TEST(JobSorter, reads_no_more_history_than_it_may_keep) {
  SorterParams few = params();
  few.max_history = 7;
  const auto again = JobSorter::parse(trained().text(), few);
  ASSERT_TRUE(again.has_value());
  const auto all = trained().history();
  EXPECT_EQ(again->history(), std::vector<JobSample>(all.end() - 7, all.end()));
}

TEST(JobSorter, refuses_a_classifier_for_another_threshold) {
  SorterParams other = params();
  other.training.threshold = seconds{90};
  const auto refused = JobSorter::parse(trained().text(), other);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, LearnError::other_threshold);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("600"));
}

TEST(JobSorter, is_never_made_from_a_damaged_text) {
  test::expect_damage_is_noticed(
      trained().text(), "sorter",
      [](const std::string& text) {
        auto parsed = JobSorter::parse(text, params());
        // Another threshold is what some damage comes to.
        if (parsed || parsed.error().code != LearnError::other_threshold) return parsed;
        return Expected<JobSorter, LearnError>(
            Failure<LearnError>{LearnError::damaged, "line 2: " + parsed.error().message});
      },
      [](const JobSorter& sorter) {
        const double confidence = sorter.classify(small_job(), {}).confidence;
        ASSERT_TRUE(confidence >= 0 && confidence <= 1);
      });
}

}  // namespace
}  // namespace muster
