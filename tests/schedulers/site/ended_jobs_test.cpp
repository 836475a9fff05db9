#include "schedulers/site/ended_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

EndedHandoff ended(std::uint64_t job, const std::string& reason) {
  EndedHandoff made;
  made.job = test::JobBuilder(job).build();
  made.reason = reason;
  return made;
}

std::vector<std::string> reasons_of(const EndedJobs& jobs, std::uint64_t job) {
  std::vector<std::string> reasons;
  jobs.parts_of(JobId{job}, [&](const EndedHandoff& part) { reasons.push_back(part.reason); });
  return reasons;
}

std::vector<std::uint64_t> listed(const EndedJobs& jobs, JobPlace below, std::size_t most) {
  std::vector<std::uint64_t> ids;
  jobs.listed(below, [&](const EndedHandoff& part) {
    ids.push_back(part.job.id.value);
    return ids.size() < most;
  });
  return ids;
}

TEST(EndedJobs, KeepEveryPartOfAJob) {
  EndedJobs jobs(9);
  jobs.add(ended(4, "first"));
  jobs.add(ended(5, "other"));
  jobs.add(ended(4, "second"));
  EXPECT_THAT(reasons_of(jobs, 4), ElementsAre("first", "second"));
  EXPECT_THAT(reasons_of(jobs, 6), IsEmpty());
}

TEST(EndedJobs, CountJobsThatNoMasterHasAnythingOf) {
  EndedJobs jobs(2);
  EndedHandoff part = ended(5, "part");
  part.job.total_tasks = 9;
  jobs.add(ended(4, "whole"));
  jobs.add(part);
  EXPECT_EQ(jobs.whole_jobs(), 1u);
  jobs.add(ended(6, "whole"));
  EXPECT_EQ(jobs.whole_jobs(), 1u) << "the oldest is dropped";
  jobs.add(ended(7, "whole"));
  EXPECT_EQ(jobs.whole_jobs(), 2u);
}

TEST(EndedJobs, TheOldestPartGoesAloneWhenThereAreTooMany) {
  EndedJobs jobs(2);
  jobs.add(ended(4, "first"));
  jobs.add(ended(4, "second"));
  jobs.add(ended(1, "other"));
  EXPECT_EQ(jobs.size(), 2u);
  EXPECT_THAT(reasons_of(jobs, 4), ElementsAre("second"));
  jobs.add(ended(2, "another"));
  EXPECT_FALSE(jobs.contains(JobId{4}));
  EXPECT_TRUE(jobs.contains(JobId{1}));
}

TEST(EndedJobs, HowTheyEndedIsKnownForGood) {
  EndedJobs jobs(1);
  PastEnds past;
  past[JobOutcome::expired].add(9);
  jobs.recall(past);
  EndedHandoff skipped = ended(4, "");
  skipped.outcome = JobOutcome::skipped;
  EndedHandoff part = ended(5, "");
  part.job.total_tasks = 9;
  EndedHandoff conflict = ended(6, "");
  conflict.conflict = true;
  for (const EndedHandoff& each : {skipped, part, conflict, ended(7, "")}) jobs.add(each);
  EXPECT_FALSE(jobs.contains(JobId{4}));
  EXPECT_EQ(jobs.outcome_of(JobId{4}), JobOutcome::skipped);
  EXPECT_EQ(jobs.outcome_of(JobId{9}), JobOutcome::expired);
  EXPECT_EQ(jobs.outcome_of(JobId{5}), JobOutcome::refused) << "the rest of it is given up";
  EXPECT_EQ(jobs.outcome_of(JobId{6}), std::nullopt) << "its number is another job's";
  EXPECT_EQ(jobs.outcome_of(JobId{8}), std::nullopt);
}

TEST(EndedJobs, AreShownFromTheHighestNumberDown) {
  EndedJobs jobs(9);
  for (const std::uint64_t id : {3, 9, 1, 7}) jobs.add(ended(id, ""));
  EXPECT_THAT(listed(jobs, {}, 9), ElementsAre(9, 7, 3, 1));
  EXPECT_THAT(listed(jobs, {Instant{}, JobId{7}}, 9), ElementsAre(3, 1));
  EXPECT_THAT(listed(jobs, {}, 2), ElementsAre(9, 7));
}

}  // namespace
}  // namespace muster
