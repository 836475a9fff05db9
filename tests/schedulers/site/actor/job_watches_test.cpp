#include "schedulers/site/actor/job_watches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/site/site_parts.hpp"
#include "tests/support/job_waiter.hpp"

namespace muster::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The system only makes handles of listeners, which are told nothing through it.
struct JobWatchesTest : ::testing::Test {
  struct Asked {
    HandoffTarget master;
    std::vector<JobId> jobs;
    JobWatches::Heard heard;
  };
  VirtualSystem system;
  JobWaiter ann{system, text_of_whole};
  JobWaiter bob{system, text_of_whole};
  SiteParts parts;
  EndedJobs ended{10};
  JobNumbers numbers{
      parts.peers, parts.writer, 100, {parts.retries.taker(), [] {}, parts.noting()}};
  std::vector<Asked> asked;
  std::vector<std::string> told;
  std::vector<std::uint64_t> cancelled, over;
  int monitored = 0;
  std::vector<std::string> unwatched;
  JobWatches watches{{parts.peers, numbers, ended}, 3, host()};

  JobWatches::Host host() {
    JobWatches::Host made;
    made.ask = [this](const HandoffTarget& master, std::vector<JobId> jobs,
                      JobWatches::Heard heard) {
      asked.push_back({master, std::move(jobs), std::move(heard)});
    };
    made.unwatch = [this](const HandoffTarget& master, const std::vector<JobId>& jobs) {
      for (const JobId job : jobs) {
        unwatched.push_back(parts.peers.name_of(master) + " " + std::to_string(job.value));
      }
    };
    made.tell = [this](const JobListener& listener, const JobEnd& end) {
      told.push_back((listener == ann.actor() ? "ann: " : "bob: ") + text_of_whole(end));
    };
    made.monitor = [this](const JobListener&) { ++monitored; };
    made.cancel = [this](JobId job) { cancelled.push_back(job.value); };
    made.over = [this](const JobEnd& end) { over.push_back(end.job.value); };
    made.retry = parts.retries.taker();
    return made;
  }
  void watch(const JobWaiter& who, std::vector<JobId> jobs) {
    watches.watch(who.actor(), jobs, [this](const Expected<JobWatches::Ends, ActorError>& outcome) {
      if (!outcome) return told.push_back(to_string(outcome.error().code));
      std::string text = "answer:";
      for (const JobEnd& end : outcome.value()) text += " " + text_of_whole(end);
      told.push_back(text);
    });
  }
  /// Both masters answer the oldest questions, the first with these ends.
  void masters_answer(const JobWatches::Ends& ends = {}) {
    const JobWatches::Ends none;
    ASSERT_EQ(asked.size(), 2u);
    const auto questions = std::exchange(asked, {});
    questions[0].heard(&ends);
    questions[1].heard(&none);
  }
  /// The part of job 1 that m1 was to have.
  static EndedHandoff two_ended_here() {
    EndedHandoff here;
    here.job.id = JobId{1};
    here.job.total_tasks = 4;
    here.tasks = 2;
    here.to = master_at(1);
    here.outcome = JobOutcome::cancelled;
    return here;
  }
  static JobEnd part(std::uint32_t first, std::uint32_t tasks, bool broken = false) {
    return {JobId{1}, broken ? JobOutcome::failed : JobOutcome::completed, first, tasks, 4, broken};
  }
};

TEST_F(JobWatchesTest, TellsOfAJobWithTheLastOfItsTasks) {
  watch(ann, {JobId{1}});
  masters_answer();
  watches.hear(part(0, 2));
  watches.hear(part(0, 2));
  EXPECT_THAT(told, ElementsAre("answer:")) << "a repeated part counts once";
  watches.hear(part(2, 2));
  EXPECT_THAT(told, ElementsAre("answer:", "ann: 1 completed"));
  EXPECT_THAT(over, ElementsAre(1));
  watches.hear(part(2, 2));
  EXPECT_EQ(told.size(), 2u) << "each listener is told once";
}

TEST_F(JobWatchesTest, AnswersWithWhatIsOverAlready) {
  watch(bob, {JobId{1}});
  masters_answer();
  watch(ann, {JobId{1}});
  JobEnd whole = part(0, 4);
  masters_answer({whole});
  EXPECT_THAT(told, ElementsAre("answer:", "bob: 1 completed", "answer: 1 completed"));
  EXPECT_EQ(monitored, 2);
}

TEST_F(JobWatchesTest, SaysHowAJobEndedThatEndedHereLongAgo) {
  PastEnds past;
  past[JobOutcome::skipped].add(1);
  ended.recall(past);
  watch(ann, {JobId{1}});
  masters_answer();
  EXPECT_THAT(told, ElementsAre("answer: 1 skipped"));
  EXPECT_THAT(over, ElementsAre(1));
}

TEST_F(JobWatchesTest, APartWhoseTasksAreForgottenEndsTheJobWhicheverIsHeardFirst) {
  watch(ann, {JobId{1}});
  masters_answer();
  watches.hear(part(0, 2));
  watches.hear({JobId{1}, JobOutcome::failed});
  EXPECT_THAT(told, ElementsAre("answer:", "ann: 1 failed"));
}

TEST_F(JobWatchesTest, SaysTheWorstOutcomeOfAllParts) {
  watch(ann, {JobId{1}});
  masters_answer();
  watches.hear(part(0, 2, true));
  EXPECT_THAT(cancelled, ElementsAre(1)) << "the other part is for nothing";
  watches.hear(part(2, 2));
  EXPECT_THAT(told.back(), "ann: 1 failed");
}

TEST_F(JobWatchesTest, AJobHasExpiredThoughItsOtherPartsWereCancelledForThat) {
  for (const bool expired_first : {true, false}) {
    watch(ann, {JobId{1}});
    masters_answer();
    JobEnd expired = part(0, 2, true), cancelled_part = part(2, 2, true);
    expired.outcome = JobOutcome::expired;
    cancelled_part.outcome = JobOutcome::cancelled;
    watches.hear(expired_first ? expired : cancelled_part);
    watches.hear(expired_first ? cancelled_part : expired);
    EXPECT_THAT(told.back(), "ann: 1 expired");
  }
}

TEST_F(JobWatchesTest, CancelsNothingWhoseNumberIsTwoJobs) {
  numbers.note_conflict(JobId{1});
  watch(ann, {JobId{1}});
  watches.hear(part(0, 2, true));
  EXPECT_THAT(cancelled, IsEmpty());
}

TEST_F(JobWatchesTest, CountsWhatEndedHereAmongTheParts) {
  const EndedHandoff here = two_ended_here();
  watch(ann, {JobId{1}});
  masters_answer();
  watches.ended_here(here);
  watches.hear(part(0, 2));
  EXPECT_THAT(told.back(), "ann: 1 cancelled");
  ended.add(here);
  watch(bob, {JobId{1}});
  masters_answer({part(0, 2)});
  EXPECT_THAT(told.back(), "answer: 1 cancelled") << "who asks late is told, too";
}

TEST_F(JobWatchesTest, HearsNothingFromTheEndOfAJobWithAnothersNumber) {
  EndedHandoff here = two_ended_here();
  here.conflict = true;
  watch(ann, {JobId{1}});
  masters_answer();
  watches.ended_here(here);
  watches.hear(part(0, 2));
  EXPECT_THAT(told, ElementsAre("answer:"));
}

TEST_F(JobWatchesTest, AsksASilentMasterAgainAfterAPause) {
  watch(ann, {JobId{1}, JobId{2}});
  const auto questions = std::exchange(asked, {});
  const JobWatches::Ends none;
  questions[0].heard(nullptr);
  EXPECT_THAT(told, IsEmpty());
  questions[1].heard(&none);
  EXPECT_THAT(told, ElementsAre("answer:")) << "silence does not hold the answer up";
  EXPECT_THAT(asked, IsEmpty());
  parts.retries.run();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].master, master_at(0));
  EXPECT_THAT(asked[0].jobs, ElementsAre(JobId{1}, JobId{2}));
  std::exchange(asked, {})[0].heard(nullptr);
  watches.drop(ann.actor().address());
  parts.retries.run();
  EXPECT_THAT(asked, IsEmpty()) << "nobody waits any more";
}

TEST_F(JobWatchesTest, UnwatchesWhatNobodyWaitsFor) {
  watch(ann, {JobId{1}, JobId{2}});
  masters_answer();
  watch(bob, {JobId{2}});
  masters_answer();
  watches.drop(ann.actor().address());
  EXPECT_THAT(unwatched, ElementsAre("m0 1", "m1 1"));
}

TEST_F(JobWatchesTest, BoundsWhatIsWatched) {
  watch(ann, {JobId{1}, JobId{2}});
  masters_answer();
  watch(bob, {JobId{1}, JobId{2}});
  EXPECT_THAT(told.back(), to_string(ActorError::not_connected));
  EXPECT_THAT(asked, IsEmpty());
}

}  // namespace
}  // namespace muster::test
