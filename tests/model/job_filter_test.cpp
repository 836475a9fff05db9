#include "model/job_filter.hpp"

#include <gtest/gtest.h>

#include "model/job_cursor.hpp"

namespace muster {
namespace {

constexpr Instant at_s(int seconds) {
  return Instant{std::chrono::seconds{seconds}};
}

FilteredJob job_of_ann() {
  return {"ann", "sweep-1", at_s(100)};
}
FilteredJob over(JobOutcome outcome) {
  FilteredJob job = job_of_ann();
  job.outcome = outcome;
  return job;
}

TEST(JobSieve, TakesAllJobsUnlessItIsToldWhich) {
  EXPECT_TRUE(JobSieve(JobFilter{}).takes(job_of_ann()));
  EXPECT_TRUE(JobSieve(JobFilter{}).takes(over(JobOutcome::cancelled)));
}

TEST(JobSieve, GoesByUserNameAndTimeOfSubmission) {
  EXPECT_TRUE(JobSieve({.user = "ann"}).takes(job_of_ann()));
  EXPECT_FALSE(JobSieve({.user = "an"}).takes(job_of_ann()));
  EXPECT_TRUE(JobSieve({.name = "sweep-?"}).takes(job_of_ann()));
  EXPECT_FALSE(JobSieve({.name = "sweep"}).takes({"ann", "train", at_s(100)}));
  EXPECT_TRUE(JobSieve({.since = at_s(100)}).takes(job_of_ann()));
  EXPECT_FALSE(JobSieve({.since = at_s(101)}).takes(job_of_ann()));
  EXPECT_TRUE(JobSieve({.until = at_s(101)}).takes(job_of_ann()));
  EXPECT_FALSE(JobSieve({.until = at_s(100)}).takes(job_of_ann()));
}

TEST(JobSieve, GoesByHowAJobStandsThatIsNotOver) {
  const JobSieve held(JobFilter{.state = ShownState::held});
  FilteredJob job = job_of_ann();
  job.state = ShownState::held;
  EXPECT_TRUE(held.takes(job));
  job.state = ShownState::running;
  EXPECT_FALSE(held.takes(job));
  EXPECT_FALSE(held.takes(over(JobOutcome::completed)));
  job.is_part = true;
  EXPECT_TRUE(held.takes(job)) << "the whole job is asked about once more";
}

TEST(JobSieve, TellsFailedJobsFromOthers) {
  const JobSieve failed(JobFilter{.failed = true});
  EXPECT_TRUE(failed.takes(over(JobOutcome::failed)));
  EXPECT_FALSE(failed.takes(over(JobOutcome::completed)));
  FilteredJob runs = job_of_ann();
  EXPECT_FALSE(failed.takes(runs));
  runs.failed = true;
  EXPECT_TRUE(failed.takes(runs));
}

TEST(JobSieve, LetsARunningPartPassWhereAnotherMayHaveAFailedTask) {
  FilteredJob part = job_of_ann();
  part.is_part = true;
  EXPECT_TRUE(JobSieve(JobFilter{.failed = true}).takes(part));
  EXPECT_FALSE(JobSieve(JobFilter{.user = "bob", .failed = true}).takes(part));
}

TEST(JobSieve, TakesNoJobThatRunsWhereItsEndIsAskedFor) {
  EXPECT_FALSE(JobSieve({.outcome = JobOutcome::completed}).takes(job_of_ann()));
  EXPECT_TRUE(JobSieve({.outcome = JobOutcome::completed}).takes(over(JobOutcome::completed)));
  EXPECT_FALSE(JobSieve({.exit_code = 0}).takes(job_of_ann()));
  FilteredJob ended = over(JobOutcome::failed);
  ended.exit_code = 3;
  EXPECT_TRUE(JobSieve({.exit_code = 3}).takes(ended));
  EXPECT_FALSE(JobSieve({.exit_code = 4}).takes(ended));
}

// A part of it is cancelled when more of its tasks fail than may: the whole is a failed job.
TEST(JobSieve, LetsACancelledPartWithAFailedTaskPassAsFailed) {
  FilteredJob part = over(JobOutcome::cancelled);
  EXPECT_FALSE(JobSieve({.outcome = JobOutcome::failed}).takes(part));
  part.failed = true;
  EXPECT_TRUE(JobSieve({.outcome = JobOutcome::failed}).takes(part));
}

TEST(JobCursor, ComesBackFromItsText) {
  for (const bool over : {false, true}) {
    const JobCursor cursor{over, {Instant{Duration{1'764'394'839'123'456'789}}, JobId{12}}};
    EXPECT_EQ(job_cursor_from(to_text(cursor)), cursor);
  }
}

TEST(JobCursor, TellsThePlaceOfAnEarlierVersion) {
  EXPECT_TRUE(is_earlier_cursor("active:12"));
  EXPECT_TRUE(is_earlier_cursor("over:7"));
  EXPECT_FALSE(is_earlier_cursor("over:0:7"));
  EXPECT_FALSE(is_earlier_cursor("over:"));
  EXPECT_FALSE(is_earlier_cursor("12"));
  EXPECT_FALSE(job_cursor_from("active:12"));
}

TEST(JobPlace, BeginsWithWhatWasSubmittedLast) {
  const JobPlace early{at_s(1), JobId{1'000'000'009}};
  const JobPlace late{at_s(2), JobId{3}};
  EXPECT_LT(early, late);
  EXPECT_LT((JobPlace{at_s(2), JobId{2}}), late);
  EXPECT_LT(late, JobPlace{}) << "the beginning";
}

}  // namespace
}  // namespace muster
