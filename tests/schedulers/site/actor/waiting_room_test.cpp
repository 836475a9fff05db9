#include "schedulers/site/actor/waiting_room.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/site/site_parts.hpp"

namespace muster::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using enum AfterEnd;

struct WaitingRoomTest : ::testing::Test {
  std::vector<std::uint64_t> watched, unwatched, begun;
  std::vector<SkippedJob> skipped;
  Steps later;
  WaitingRoom room{4, host()};

  WaitingRoom::Host host() {
    WaitingRoom::Host made;
    made.watch = [this](const std::vector<JobId>& jobs) {
      for (const JobId job : jobs) watched.push_back(job.value);
    };
    made.unwatch = [this](const std::vector<JobId>& jobs) {
      for (const JobId job : jobs) unwatched.push_back(job.value);
    };
    made.begin = [this](const std::vector<JobId>& jobs) {
      for (const JobId job : jobs) begun.push_back(job.value);
    };
    made.skip = [this](const std::vector<SkippedJob>& jobs) {
      skipped.insert(skipped.end(), jobs.begin(), jobs.end());
    };
    made.later = later.taker();
    return made;
  }
  void wait(std::uint64_t id, std::vector<AfterJob> after) {
    Job job = job_of(id);
    job.after = std::move(after);
    room.add(job);
    room.ask();
  }
  void over(std::uint64_t id, JobOutcome outcome = JobOutcome::completed) {
    room.hear({JobId{id}, outcome, 0, 1, 1});
  }
};

TEST_F(WaitingRoomTest, LetsAJobBeginWhenAllThatItWaitsForIsOver) {
  wait(10, {{JobId{1}}, {JobId{2}, any}});
  EXPECT_THAT(watched, ElementsAre(1, 2));
  over(2, JobOutcome::failed);
  over(2, JobOutcome::failed);
  EXPECT_THAT(begun, IsEmpty());
  EXPECT_THAT(room.why(JobId{10}), HasSubstr("job 1"));
  over(1);
  EXPECT_THAT(begun, ElementsAre(10));
  EXPECT_TRUE(room.waits(JobId{10})) << "until it has left";
  room.drop(JobId{10});
  EXPECT_FALSE(room.waits(JobId{10}));
  EXPECT_THAT(skipped, IsEmpty());
}

TEST_F(WaitingRoomTest, SkipsAJobThatCannotBeginAnyMore) {
  const struct {
    AfterEnd wanted;
    JobOutcome outcome;
    bool begins;
  } kCases[] = {{ok, JobOutcome::completed, true},    {ok, JobOutcome::failed, false},
                {ok, JobOutcome::cancelled, false},   {ok, JobOutcome::skipped, false},
                {any, JobOutcome::cancelled, true},   {any, JobOutcome::skipped, true},
                {fail, JobOutcome::completed, false}, {fail, JobOutcome::failed, true},
                {fail, JobOutcome::refused, true},    {fail, JobOutcome::cancelled, false}};
  std::uint64_t id = 100;
  for (const auto& each : kCases) {
    begun.clear();
    skipped.clear();
    wait(++id, {{JobId{1}, each.wanted}});
    over(1, each.outcome);
    EXPECT_EQ(begun.size(), each.begins ? 1U : 0U) << name_of(each.wanted) << id;
    EXPECT_EQ(skipped.size(), each.begins ? 0U : 1U) << name_of(each.wanted) << id;
  }
}

TEST_F(WaitingRoomTest, SkipsOnceAndWaitsForTheOthersNoMore) {
  wait(10, {{JobId{1}}, {JobId{2}}, {JobId{3}}});
  wait(11, {{JobId{3}}});
  over(1, JobOutcome::failed);
  over(2, JobOutcome::failed);
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_THAT(skipped[0].reason, HasSubstr("job 1"));
  EXPECT_THAT(unwatched, ElementsAre(2)) << "another one waits for job 3";
}

TEST_F(WaitingRoomTest, DoesNotBeginByAnEndThatNobodyKnowsAnyMore) {
  wait(10, {{JobId{1}}});
  wait(11, {{JobId{1}, any}});
  room.hear({JobId{1}, JobOutcome::completed, 0, 0, 0});
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_EQ(skipped[0].job, JobId{10});
  EXPECT_THAT(begun, ElementsAre(11));
}

TEST_F(WaitingRoomTest, ForgetsAJobThatIsCancelled) {
  wait(10, {{JobId{1}}});
  room.drop(JobId{10});
  EXPECT_THAT(unwatched, ElementsAre(1));
  over(1);
  EXPECT_THAT(begun, IsEmpty());
}

TEST_F(WaitingRoomTest, AsksAgainAboutJobsThatDoNotWaitHere) {
  wait(10, {{JobId{1}}});
  wait(11, {{JobId{1}}, {JobId{10}}});
  EXPECT_THAT(watched, ElementsAre(1, 1, 10));
  watched.clear();
  ASSERT_EQ(later.size(), 1U) << "one timer for all";
  later.run();
  EXPECT_THAT(watched, ElementsAre(1));
  over(1);
  room.drop(JobId{10});
  over(10);
  room.drop(JobId{11});
  later.run();
  EXPECT_EQ(later.size(), 0U) << "no job waits";
}

TEST_F(WaitingRoomTest, HasRoomForSomeJobsAndForHalfOfThemOfAUser) {
  const auto job = [](const char* user, std::size_t others = 1) {
    Job made = job_of(1);
    made.user = user;
    for (std::uint64_t i = 0; i < others; ++i) made.after.push_back({JobId{i + 1}});
    return made;
  };
  EXPECT_TRUE(room.has_room({job("ann", 0), job("ann", 0), job("ann", 0)}))
      << "they wait for no job";
  EXPECT_TRUE(room.has_room({job("ann"), job("ann"), job("bob"), job("bob")}));
  EXPECT_FALSE(room.has_room({job("ann"), job("ann"), job("ann")}));
  EXPECT_FALSE(room.has_room({job("ann", 17)})) << "too much to remember";
  Job first = job("ann");
  first.id = JobId{10};
  room.add(first);
  EXPECT_FALSE(room.has_room({job("ann"), job("ann")}));
  room.drop(JobId{10});
  EXPECT_TRUE(room.has_room({job("ann"), job("ann")}));
}

TEST_F(WaitingRoomTest, SaysInWordsWhatAJobWaitsFor) {
  wait(10, {{JobId{1}}, {JobId{2}, any}, {JobId{3}, fail}, {JobId{4}}, {JobId{5}}});
  EXPECT_THAT(room.why(JobId{10}), HasSubstr("2 other"));
  EXPECT_EQ(room.why(JobId{1}), "");
}

}  // namespace
}  // namespace muster::test
