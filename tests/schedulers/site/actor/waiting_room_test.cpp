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

WaitingPair pair_of(std::uint64_t job, std::uint64_t other, std::uint64_t instead,
                    bool unheard = false) {
  return {.job = JobId{job}, .other = JobId{other}, .instead = JobId{instead}, .unheard = unheard};
}

struct WaitingRoomTest : ::testing::Test {
  std::vector<std::uint64_t> watched, unwatched, begun;
  std::vector<SkippedJob> skipped;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> met;
  int starts_awaited = 0;
  double now_s = 1000;
  double woken_s = 0;
  Steps later;
  WaitingRoom room{{4, 1}, host()};

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
    made.met = [this](const WaitingPair& pair) {
      met.emplace_back(pair.job.value, pair.other.value);
    };
    made.await_starts = [this] { ++starts_awaited; };
    made.later = later.taker();
    made.wake = [this](Instant at) { woken_s = to_seconds(at); };
    made.now = [this] { return at_s(now_s); };
    return made;
  }
  static Instant at_s(double s) { return Instant{from_seconds(s)}; }
  void wait(const Job& job) {
    room.add(job);
    room.ask();
  }
  void wait(std::uint64_t id, std::vector<AfterJob> after) { wait(waiting(id, std::move(after))); }
  static Job waiting(std::uint64_t id, std::vector<AfterJob> after = {}) {
    Job job = job_of(id);
    job.after = std::move(after);
    return job;
  }
  static Job recurring(std::uint64_t id) {
    Job job = waiting(id);
    job.every = "* * * * *";
    job.submitted = at_s(1000);
    return job;
  }
  void pass_to_s(double s) {
    now_s = s;
    room.look_at_clock();
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
                {fail, JobOutcome::refused, true},    {fail, JobOutcome::cancelled, false},
                {ok, JobOutcome::expired, false},     {fail, JobOutcome::expired, true}};
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
  room.hear({JobId{1}, JobOutcome::completed, 0, 0, 0, false, false});
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

TEST_F(WaitingRoomTest, LetsAJobBeginAtItsTime) {
  Job job = waiting(10, {{JobId{1}}});
  job.begin = at_s(1100);
  wait(job);
  wait(waiting(11));
  EXPECT_THAT(begun, ElementsAre(11)) << "its time has come";
  over(1);
  EXPECT_EQ(woken_s, 1100);
  EXPECT_THAT(room.why(JobId{10}), HasSubstr("1970-01-01 00:18:20 UTC"));
  pass_to_s(1099);
  EXPECT_THAT(begun, ElementsAre(11));
  pass_to_s(1100);
  EXPECT_THAT(begun, ElementsAre(11, 10));
  pass_to_s(1200);
  EXPECT_THAT(begun, ElementsAre(11, 10)) << "once";
}

TEST_F(WaitingRoomTest, EndsAJobThatWaitsAtItsDeadline) {
  Job job = waiting(10, {{JobId{1}}});
  job.deadline = at_s(1100);
  wait(job);
  EXPECT_EQ(woken_s, 1100);
  pass_to_s(1101);
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_EQ(skipped[0].outcome, JobOutcome::expired);
  EXPECT_THAT(unwatched, ElementsAre(1));
  over(1);
  pass_to_s(2000);
  EXPECT_THAT(begun, IsEmpty());
  EXPECT_EQ(skipped.size(), 1U);
}

TEST_F(WaitingRoomTest, HoldsAJobUntilItIsReleased) {
  Job job = waiting(10, {{JobId{1}}});
  job.held = true;
  wait(job);
  over(1);
  EXPECT_THAT(begun, IsEmpty());
  EXPECT_TRUE(room.is_held(JobId{10}));
  room.hold(JobId{10}, false);
  EXPECT_THAT(begun, ElementsAre(10));
  room.hold(JobId{12}, true);
}

TEST_F(WaitingRoomTest, LetsEachRunBeginAtItsTimeOnceTheOneBeforeIsOver) {
  wait(recurring(10));
  EXPECT_THAT(begun, IsEmpty());
  EXPECT_EQ(woken_s, 1020);
  pass_to_s(1020.5);
  EXPECT_THAT(begun, ElementsAre(10));
  room.recurred(JobId{10}, JobId{11});
  EXPECT_THAT(watched, ElementsAre(11));
  EXPECT_EQ(woken_s, 1080);
  pass_to_s(1081);
  EXPECT_THAT(begun, ElementsAre(10)) << "its run is not over";
  EXPECT_THAT(room.why(JobId{10}), HasSubstr("job 11"));
  over(11, JobOutcome::failed);
  EXPECT_THAT(begun, ElementsAre(10)) << "it waits for its next time";
  pass_to_s(1140);
  EXPECT_THAT(begun, ElementsAre(10, 10));
  EXPECT_THAT(skipped, IsEmpty());
}

TEST_F(WaitingRoomTest, RunsMayOverlapWhereTheUserSaysSo) {
  Job job = recurring(10);
  job.overlaps = true;
  wait(job);
  for (int i = 1; i <= 3; ++i) {
    pass_to_s(960 + 60 * i);
    room.recurred(JobId{10}, JobId{10U + static_cast<std::uint64_t>(i)});
  }
  EXPECT_THAT(begun, ElementsAre(10, 10, 10));
  EXPECT_THAT(watched, IsEmpty());
}

TEST_F(WaitingRoomTest, PassesOverTheTimesOfARecurringJobThatIsHeld) {
  Job job = recurring(10);
  job.held = true;
  wait(job);
  pass_to_s(1021);
  pass_to_s(1090);
  EXPECT_THAT(begun, IsEmpty());
  room.hold(JobId{10}, false);
  EXPECT_THAT(begun, IsEmpty()) << "no time is made up for";
  pass_to_s(1140);
  EXPECT_THAT(begun, ElementsAre(10));
}

TEST_F(WaitingRoomTest, MakesUpForOneOfTheRunsThatWereMissed) {
  Job job = recurring(10);
  job.begin = at_s(400);  // its newest run
  job.recurs = JobId{9};
  wait(job);
  EXPECT_THAT(watched, ElementsAre(9));
  pass_to_s(1020);
  EXPECT_THAT(begun, IsEmpty()) << "its run may not be over";
  over(9);
  EXPECT_THAT(begun, ElementsAre(10));
  room.recurred(JobId{10}, JobId{11});
  over(11);
  EXPECT_THAT(begun, ElementsAre(10));
  EXPECT_EQ(woken_s, 1080);
}

TEST_F(WaitingRoomTest, MakesUpForNoRunWhereNoneWasMissed) {
  Job job = recurring(10);
  job.begin = at_s(970);
  job.recurs = JobId{9};
  wait(job);
  over(9);
  EXPECT_THAT(begun, IsEmpty());
  pass_to_s(1020);
  EXPECT_THAT(begun, ElementsAre(10));
}

TEST_F(WaitingRoomTest, KeepsAJobUntilWhatFailedHasBeenResubmitted) {
  Job job = waiting(10, {{JobId{1}}, {JobId{2}}});
  job.keeps_waiting = true;
  wait(job);
  over(1, JobOutcome::failed);
  over(2);
  EXPECT_THAT(skipped, IsEmpty());
  EXPECT_THAT(begun, IsEmpty());
  EXPECT_THAT(room.why(JobId{10}), HasSubstr("resubmission"));
  EXPECT_THAT(room.kept_for(JobId{1}, JobId{30}, 9), ElementsAre(pair_of(10, 1, 30)));
  EXPECT_THAT(room.kept_for(JobId{1}, JobId{30}, 0), IsEmpty());
  EXPECT_THAT(room.kept_for(JobId{3}, JobId{30}, 9), IsEmpty());
  room.resubmitted(JobId{1}, JobId{30});
  room.ask();
  EXPECT_THAT(room.why(JobId{10}), HasSubstr("job 30"));
  over(30, JobOutcome::failed);
  room.resubmitted(JobId{1}, JobId{31});
  EXPECT_THAT(room.why(JobId{10}), HasSubstr("job 31")) << "by the number that its user knows";
  over(31);
  EXPECT_THAT(begun, ElementsAre(10));
  room.drop(JobId{10});
  EXPECT_THAT(room.kept_for(JobId{1}, JobId{31}, 9), IsEmpty());
}

TEST_F(WaitingRoomTest, RemembersNothingOfAKeptJobThatIsCancelled) {
  Job job = waiting(10, {{JobId{1}}, {JobId{2}}});
  job.keeps_waiting = true;
  wait(job);
  over(1, JobOutcome::failed);
  room.drop(JobId{10});
  EXPECT_THAT(unwatched, ElementsAre(2)) << "the other one is over";
  EXPECT_THAT(room.kept_for(JobId{1}, JobId{31}, 9), IsEmpty());
}

TEST_F(WaitingRoomTest, AResubmissionCountsThoughTheFailureIsHeardBehindIt) {
  Job job = waiting(10, {{JobId{1}}});
  job.keeps_waiting = true;
  wait(job);
  room.resubmitted(JobId{1}, JobId{30});
  over(1, JobOutcome::failed);
  EXPECT_THAT(room.why(JobId{10}), HasSubstr("job 30"));
  over(30);
  EXPECT_THAT(begun, ElementsAre(10));
}

TEST_F(WaitingRoomTest, AResubmissionCountsThroughARestartThoughTheFailureIsHeardBehindIt) {
  Job job = waiting(10, {{JobId{1}}});
  job.keeps_waiting = true;
  wait(job);
  const std::vector<WaitingPair> kept = room.kept_for(JobId{1}, JobId{30}, 9);
  ASSERT_THAT(kept, ElementsAre(pair_of(10, 1, 30, true)));
  for (const WaitingPair& each : kept) each.put_in(job.after);
  WaitingRoom restarted{{4, 1}, host()};
  restarted.add(job);
  restarted.ask();
  restarted.hear({JobId{1}, JobOutcome::failed, 0, 1, 1});
  EXPECT_THAT(restarted.why(JobId{10}), HasSubstr("job 30"));
  restarted.hear({JobId{30}, JobOutcome::completed, 0, 1, 1});
  EXPECT_THAT(begun, ElementsAre(10));
}

TEST_F(WaitingRoomTest, TheFirstNumberStandsForResubmissionsThroughARestart) {
  Job job = waiting(10, {{JobId{1}}});
  job.keeps_waiting = true;
  wait(job);
  over(1, JobOutcome::failed);
  for (const WaitingPair& each : room.kept_for(JobId{1}, JobId{30}, 9)) each.put_in(job.after);
  WaitingRoom restarted{{4, 1}, host()};
  restarted.add(job);
  restarted.hear({JobId{30}, JobOutcome::failed, 0, 1, 1});
  EXPECT_THAT(restarted.kept_for(JobId{1}, JobId{31}, 9), ElementsAre(pair_of(10, 30, 31)));
  restarted.resubmitted(JobId{1}, JobId{31});
  EXPECT_THAT(restarted.why(JobId{10}), HasSubstr("job 31"));
}

TEST_F(WaitingRoomTest, KeepsAJobAlsoWhereItIsNotKnownHowTheOtherEnded) {
  Job job = waiting(10, {{JobId{1}}});
  job.keeps_waiting = true;
  wait(job);
  room.hear({JobId{1}, JobOutcome::completed, 0, 0, 0, false, false});
  EXPECT_THAT(skipped, IsEmpty());
  EXPECT_THAT(room.why(JobId{10}), HasSubstr("resubmission"));
}

TEST_F(WaitingRoomTest, AJobThatIsHeldOnItsWayOutBeginsNoMore) {
  wait(waiting(10));
  EXPECT_THAT(begun, ElementsAre(10));
  EXPECT_TRUE(room.may_begin(JobId{10}));
  room.hold(JobId{10}, true);
  EXPECT_FALSE(room.may_begin(JobId{10}));
  room.hold(JobId{10}, false);
  EXPECT_THAT(begun, ElementsAre(10, 10));
}

TEST_F(WaitingRoomTest, EndsAJobAtItsDeadlineThatHasNotLeftYet) {
  Job job = waiting(10);
  job.deadline = at_s(1100);
  wait(job);
  EXPECT_THAT(begun, ElementsAre(10));
  pass_to_s(1100);
  EXPECT_EQ(skipped.size(), 1U);
  EXPECT_FALSE(room.may_begin(JobId{10}));
}

TEST_F(WaitingRoomTest, LooksAtSomeJobsAtATime) {
  WaitingRoom large({1'000, 1'000}, host());
  for (std::uint64_t i = 1; i <= 400; ++i) {
    Job job = waiting(i);
    job.user = "u" + std::to_string(i);
    large.add(job);
  }
  for (std::uint64_t i = 401; i <= 600; ++i) large.add(waiting(i));
  large.look_at_clock();
  EXPECT_EQ(begun.size(), 500U);
  EXPECT_LE(woken_s, 1000) << "the others at once";
  large.look_at_clock();
  EXPECT_EQ(begun.size(), 600U);
}

TEST_F(WaitingRoomTest, HasRoomForSomeRecurringJobsOfAUser) {
  Job other = recurring(11);
  other.user = "bob";
  EXPECT_TRUE(room.has_room({recurring(10), other}));
  EXPECT_FALSE(room.has_room({recurring(10), recurring(11)}));
  wait(recurring(10));
  EXPECT_FALSE(room.has_room({recurring(12)}));
  EXPECT_TRUE(room.has_room({waiting(12)}));
  room.drop(JobId{10});
  EXPECT_TRUE(room.has_room({recurring(12)}));
}

TEST_F(WaitingRoomTest, TellsOfConditionsThatHaveComeTrueWhileOthersHaveNot) {
  wait(10, {{JobId{1}}, {JobId{2}}});
  over(1);
  EXPECT_THAT(met, ElementsAre(std::pair{10U, 1U}));
  over(2);
  EXPECT_EQ(met.size(), 2U) << "its time may not have come";
  Job again = waiting(11, {{JobId{3}}, {JobId{4}}});
  again.after[0].met = true;
  watched.clear();
  wait(again);
  EXPECT_THAT(watched, ElementsAre(4));
}

TEST_F(WaitingRoomTest, LetsAJobBeginWhenAnotherHasStarted) {
  wait(10, {{JobId{1}, start}});
  EXPECT_EQ(starts_awaited, 1);
  EXPECT_THAT(room.unstarted({}, 10), ElementsAre(JobId{1}));
  EXPECT_THAT(room.why(JobId{10}), HasSubstr("job 1 to start"));
  room.hear_start(JobId{2});
  EXPECT_THAT(begun, IsEmpty());
  room.hear_start(JobId{1});
  room.hear_start(JobId{1});
  EXPECT_THAT(begun, ElementsAre(10));
  EXPECT_THAT(met, ElementsAre(std::pair(10, 1)));
  EXPECT_THAT(unwatched, ElementsAre(1));
  EXPECT_THAT(room.unstarted({}, 10), IsEmpty());
}

TEST_F(WaitingRoomTest, AJobThatIsOverCountsAsStarted) {
  wait(10, {{JobId{1}, start}});
  over(1, JobOutcome::cancelled);
  EXPECT_THAT(begun, ElementsAre(10));
  EXPECT_THAT(room.unstarted({}, 10), IsEmpty());
}

TEST_F(WaitingRoomTest, WaitsForTheEndOfAJobThatHasStarted) {
  wait(10, {{JobId{1}, start}, {JobId{1}, ok}});
  wait(11, {{JobId{1}, start}, {JobId{2}, start}});
  EXPECT_THAT(room.unstarted({}, 10), ElementsAre(JobId{1}, JobId{2}));
  EXPECT_THAT(room.unstarted({}, 1), ElementsAre(JobId{1}));
  EXPECT_THAT(room.unstarted(JobId{1}, 10), ElementsAre(JobId{2}));
  room.hear_start(JobId{1});
  EXPECT_THAT(begun, IsEmpty());
  EXPECT_THAT(unwatched, IsEmpty());
  over(1);
  EXPECT_THAT(begun, ElementsAre(10));
  room.drop(JobId{11});
  EXPECT_THAT(room.unstarted({}, 10), IsEmpty());
}

TEST_F(WaitingRoomTest, IsNotForTasksThatWaitForTheirCounterparts) {
  Job job = waiting(10, {{JobId{1}, ok, 0, false, true}});
  EXPECT_FALSE(WaitingRoom::is_for(job, at_s(now_s)));
  job.after.push_back({JobId{2}});
  EXPECT_TRUE(WaitingRoom::is_for(job, at_s(now_s)));
  wait(job);
  EXPECT_THAT(watched, ElementsAre(2));
  over(2);
  EXPECT_THAT(begun, ElementsAre(10));
}

}  // namespace
}  // namespace muster::test
