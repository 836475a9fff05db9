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

TEST(EndedJobs, AreShownFromTheHighestNumberDown) {
  EndedJobs jobs(9);
  for (const std::uint64_t id : {3, 9, 1, 7}) jobs.add(ended(id, ""));
  EXPECT_THAT(listed(jobs, {}, 9), ElementsAre(9, 7, 3, 1));
  EXPECT_THAT(listed(jobs, {Instant{}, JobId{7}}, 9), ElementsAre(3, 1));
  EXPECT_THAT(listed(jobs, {}, 2), ElementsAre(9, 7));
}

}  // namespace
}  // namespace muster
