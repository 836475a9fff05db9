#include "model/views.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(JobsQuestion, AsksForAllOfEverybodyUnlessItSaysOtherwise) {
  const JobsQuestion all;
  EXPECT_TRUE(all.active);
  EXPECT_TRUE(all.over);
  EXPECT_FALSE(all.only);
  EXPECT_EQ(all.bound(), JobsQuestion::kUnlessAsked);
  EXPECT_EQ(all.filter, JobFilter{});
}

TEST(JobsQuestion, BeginsBehindACursor) {
  JobsQuestion active;
  active.begin_behind({false, {Instant{}, JobId{12}}});
  EXPECT_TRUE(active.active);
  EXPECT_EQ(active.active_below, (JobPlace{Instant{}, JobId{12}}));
  EXPECT_EQ(active.over_below, JobPlace{});
  JobsQuestion over;
  over.begin_behind({true, {Instant{}, JobId{7}}});
  EXPECT_FALSE(over.active) << "these come first";
  EXPECT_EQ(over.over_below, (JobPlace{Instant{}, JobId{7}}));
}

TEST(JobsQuestion, ShowsNoMoreThanTheMostWhoeverAsks) {
  EXPECT_EQ(JobsQuestion{.most = 1'000'000}.bound(), JobsQuestion::kMost);
  EXPECT_EQ(JobsQuestion{.most = 0}.bound(), 1U);
  JobQuestion job;
  job.most = 1'000'000;
  EXPECT_EQ(job.bound(), JobQuestion::kMost);
  const JobsQuestion some = JobsQuestion::parts_of({JobId{3}, JobId{1}});
  EXPECT_EQ(some.only, (std::vector<JobId>{JobId{3}, JobId{1}}));
  EXPECT_EQ(some.most, 2U);
}

TEST(ShownState, HasTheWordOfWhatItShows) {
  for (const auto standing : {JobStanding::waiting, JobStanding::held, JobStanding::starting,
                              JobStanding::running, JobStanding::stopping}) {
    EXPECT_EQ(name_of(shown(standing)), name_of(standing));
  }
  for (const auto outcome :
       {JobOutcome::completed, JobOutcome::failed, JobOutcome::refused, JobOutcome::cancelled}) {
    EXPECT_EQ(name_of(shown(outcome)), name_of(outcome));
  }
}

}  // namespace
}  // namespace muster
