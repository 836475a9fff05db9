#include "model/job_ending.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

JobHistory array_of(std::size_t tasks) {
  JobHistory made;
  made.job = JobBuilder(7).tasks(tasks).gang(false).build();
  for (std::uint32_t i = 0; i < tasks; ++i) made.job.tasks[i].array_index = 2 * i;
  made.tasks.resize(tasks);
  return made;
}

TEST(JobEnding, HasTheIndicesOfTasksThatCameToTheirOwnEnd) {
  JobHistory job = array_of(4);
  job.outcome = JobOutcome::failed;
  job.over_at = Instant{std::chrono::seconds{5}};
  job.tasks[0].finished = job.tasks[1].finished = true;
  job.tasks[3].failed = true;
  const JobEnding ending = ending_of(job);
  EXPECT_EQ(ending.job, JobId{7});
  EXPECT_EQ(ending.outcome, JobOutcome::failed);
  EXPECT_EQ(ending.over_at, job.over_at);
  EXPECT_THAT(ending.completed, ElementsAre(IndexRun{0, 0}, IndexRun{2, 2}));
  EXPECT_THAT(ending.failed, ElementsAre(IndexRun{6, 6}));
  EXPECT_TRUE(ending.broken) << "of the third";
}

TEST(JobEnding, OfNeighboursIsOneRange) {
  JobHistory job = array_of(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    job.job.tasks[i].array_index = i;
    job.tasks[i].finished = true;
  }
  const JobEnding ending = ending_of(job);
  EXPECT_THAT(ending.completed, ElementsAre(IndexRun{0, 2}));
  EXPECT_THAT(ending.failed, IsEmpty());
  EXPECT_FALSE(ending.broken);
  EXPECT_EQ(ending.tasks, 3U);
  EXPECT_EQ(ending.whole, 3U);
}

TEST(JobEnding, IsKnownByTheOutcomeWhereAllTasksEndedAlike) {
  JobHistory job = array_of(2);
  EXPECT_TRUE(is_known_by_outcome(job));
  job.outcome = JobOutcome::failed;
  EXPECT_TRUE(is_known_by_outcome(job));
  job.tasks[1].finished = true;
  EXPECT_FALSE(is_known_by_outcome(job));
  job.outcome = JobOutcome::cancelled;
  job.tasks[1].finished = false;
  EXPECT_FALSE(is_known_by_outcome(job));
  job.outcome = JobOutcome::completed;
  job.job.total_tasks = 5;
  EXPECT_FALSE(is_known_by_outcome(job)) << "others have the rest of it";
  EXPECT_EQ(ending_of(job).whole, 5U);
}

TEST(IndexRuns, AreFewForEveryNthIndex) {
  EXPECT_THAT(runs_of({1, 4, 7, 10}), ElementsAre(IndexRun{1, 10, 3}));
  EXPECT_THAT(runs_of({2, 3, 4}), ElementsAre(IndexRun{2, 4, 1}));
  EXPECT_THAT(runs_of({0, 5, 6, 7}), ElementsAre(IndexRun{0, 0, 1}, IndexRun{5, 7, 1}));
  EXPECT_THAT(runs_of({3, 9}), ElementsAre(IndexRun{3, 3, 1}, IndexRun{9, 9, 1}));
  EXPECT_THAT(runs_of({}), IsEmpty());
}

TEST(IndexRuns, AreRangesFromAnyOneOn) {
  const std::vector<IndexRun> runs{{1, 10, 3}, {20, 29, 1}};
  EXPECT_EQ(count_ranges(runs), 5U);
  EXPECT_THAT(ranges_of(runs, 0, 9),
              ElementsAre(IndexRange{1, 1}, IndexRange{4, 4}, IndexRange{7, 7}, IndexRange{10, 10},
                          IndexRange{20, 29}));
  EXPECT_THAT(ranges_of(runs, 3, 1), ElementsAre(IndexRange{10, 10}));
  EXPECT_THAT(ranges_of(runs, 4, 9), ElementsAre(IndexRange{20, 29}));
  EXPECT_THAT(ranges_of(runs, 5, 9), IsEmpty());
}

RC_GTEST_PROP(IndexRuns, have_the_indices_that_they_were_made_of, ()) {
  const auto drawn = *rc::gen::container<std::set<std::uint32_t>>(rc::gen::inRange(0U, 60U));
  const std::vector<std::uint32_t> indices(drawn.begin(), drawn.end());
  std::vector<std::uint32_t> again;
  for (const IndexRange& range : ranges_of(runs_of(indices), 0, SIZE_MAX)) {
    for (std::uint32_t i = range.first; i <= range.last; ++i) again.push_back(i);
  }
  RC_ASSERT(again == indices);
}

}  // namespace
}  // namespace muster
