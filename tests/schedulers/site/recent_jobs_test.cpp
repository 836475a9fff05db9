#include "schedulers/site/recent_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::ElementsAre;

TEST(RecentJobs, AreInTheOrderInWhichTheyCame) {
  RecentJobs jobs(3);
  EXPECT_TRUE(jobs.add(JobId{7}));
  EXPECT_TRUE(jobs.add(JobId{2}));
  EXPECT_THAT(jobs.oldest_first(), ElementsAre(JobId{7}, JobId{2}));
}

TEST(RecentJobs, TheOldestGoesWhenThereAreTooMany) {
  RecentJobs jobs(2);
  for (const std::uint64_t id : {9, 1, 5}) jobs.add(JobId{id});
  EXPECT_FALSE(jobs.contains(JobId{9}));
  EXPECT_THAT(jobs.oldest_first(), ElementsAre(JobId{1}, JobId{5}));
}

TEST(RecentJobs, OneThatIsAddedAgainStaysAsOldAsItIs) {
  RecentJobs jobs(2);
  jobs.add(JobId{1});
  jobs.add(JobId{2});
  EXPECT_FALSE(jobs.add(JobId{1}));
  jobs.add(JobId{3});
  EXPECT_THAT(jobs.oldest_first(), ElementsAre(JobId{2}, JobId{3}));
}

TEST(RecentJobs, OneThatWasErasedMayComeAgain) {
  RecentJobs jobs(2);
  jobs.add(JobId{1});
  jobs.erase(JobId{1});
  jobs.erase(JobId{8});
  EXPECT_EQ(jobs.size(), 0u);
  EXPECT_TRUE(jobs.add(JobId{1}));
}

}  // namespace
}  // namespace muster
