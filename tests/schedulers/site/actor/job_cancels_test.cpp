#include "schedulers/site/actor/job_cancels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/schedulers/site/site_parts.hpp"

namespace muster::test {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct JobCancelsTest : ::testing::Test {
  struct Asked {
    HandoffTarget whom;
    std::vector<JobId> jobs;
    JobCancels::Heard heard;
  };
  SiteParts parts;
  EndedJobs ended{10};
  JobNumbers numbers{
      parts.peers, parts.writer, 100, {parts.retries.taker(), [] {}, parts.noting()}};
  std::vector<Asked> asked;
  Steps waits;   ///< until users are answered
  Steps pauses;  ///< until somebody is asked again
  std::vector<std::string> said;
  JobCancels cancels{
      {parts.peers, parts.writer, parts.store, numbers, ended},
      {seconds{2}, seconds{1}, 500, 3, 2},
      {[this](const HandoffTarget& to, std::vector<JobId> jobs, JobCancels::Heard heard) {
         asked.push_back({to, std::move(jobs), std::move(heard)});
       },
       [this](Duration wait, std::function<void()> step) {
         (wait == seconds{2} ? waits : pauses).taker()(std::move(step));
       }}};

  void SetUp() override { numbers.recall(100, false); }
  void cancel(std::uint64_t job) {
    cancels.cancel(JobId{job}, [this](const Expected<CancelReport, ActorError>& outcome) {
      if (!outcome) return said.push_back(to_string(outcome.error().code));
      static constexpr const char* kWords[] = {"unknown", "passed on", "over", "ended", "in hand"};
      std::string text = kWords[static_cast<int>(outcome.value().standing)];
      for (const std::string& name : outcome.value().unconfirmed) text += ", not " + name;
      said.push_back(text);
    });
  }
  /// Those who were asked, in this order.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Asked& each : asked) all.push_back(parts.peers.name_of(each.whom));
    return all;
  }
  void answer(const HandoffTarget& whom, CancelStanding standing) {
    const auto found = std::find_if(asked.begin(), asked.end(),
                                    [&](const Asked& each) { return each.whom == whom; });
    ASSERT_NE(found, asked.end());
    const Asked one = *found;
    asked.erase(found);
    JobCancels::Verdicts verdicts;
    for (const JobId job : one.jobs) verdicts.push_back({job, standing});
    one.heard(verdicts);
  }
  /// The masters, and london, which never had the job.
  void others_answer(CancelStanding of_masters) {
    answer(site_at(1), CancelStanding::unknown);
    for (const HandoffTarget& each : {master_at(0), master_at(1)}) answer(each, of_masters);
  }
};

TEST_F(JobCancelsTest, AsksNobodyBeforeItIsDurable) {
  parts.store.slow = true;
  cancel(1);
  EXPECT_THAT(asked, IsEmpty());
  parts.end_write();
  EXPECT_THAT(names(), ElementsAre("tokyo", "london", "m0", "m1"))
      << "the own site first: what has not left it need not be looked for elsewhere";
}

TEST_F(JobCancelsTest, AnswersWhenEverybodyHasConfirmed) {
  cancel(1);
  answer(site_at(0), CancelStanding::ended);
  others_answer(CancelStanding::over);
  EXPECT_THAT(said, IsEmpty()) << "they were asked before it was known that the site had the job";
  others_answer(CancelStanding::over);
  EXPECT_THAT(said, ElementsAre("ended"));
  EXPECT_FALSE(cancels.is_open(JobId{1}));
  EXPECT_THAT(parts.store.memory.cancels, IsEmpty());
  waits.run();
  EXPECT_EQ(said.size(), 1u);
}

TEST_F(JobCancelsTest, NamesAfterAWhileThoseWhoHaveNotConfirmed) {
  cancel(1);
  answer(site_at(0), CancelStanding::ended);
  answer(master_at(1), CancelStanding::unknown);
  answer(master_at(1), CancelStanding::unknown);
  waits.run();
  EXPECT_THAT(said, ElementsAre("ended, not m0, not london"));
  EXPECT_TRUE(cancels.is_open(JobId{1})) << "it goes on";
}

TEST_F(JobCancelsTest, AnswersNobodyWhileItIsUnknownWhetherItIsKept) {
  parts.store.slow = true;
  cancel(1);
  waits.run();
  EXPECT_THAT(said, IsEmpty());
  parts.end_write("disk full");
  EXPECT_THAT(said, ElementsAre(to_string(ActorError::store_failed)));
  EXPECT_EQ(asked.size(), 4u) << "its user wants it all the same";
}

TEST_F(JobCancelsTest, AsksWhoIsSilentAgainAfterAPause) {
  cancel(1);
  const Asked silent = asked[2];
  asked.erase(asked.begin() + 2);
  silent.heard({});
  EXPECT_THAT(names(), ElementsAre("tokyo", "london", "m1"));
  pauses.run();
  EXPECT_THAT(names(), ElementsAre("tokyo", "london", "m1", "m0"));
}

TEST_F(JobCancelsTest, WaitsForWhatIsOnItsWayAndIsToldWhenItIsThere) {
  cancel(1);
  answer(site_at(0), CancelStanding::in_hand);
  EXPECT_EQ(asked.size(), 3u);
  cancels.end_rest(site_at(0));
  EXPECT_EQ(names().back(), "tokyo");
  cancels.end_rest(site_at(0));
  pauses.run();
  EXPECT_EQ(asked.size(), 4u) << "one question at a time";
}

TEST_F(JobCancelsTest, AsksNobodyASecondTimeBeforeTheFirstAnswer) {
  cancel(1);
  cancel(2);
  cancels.end_rest(site_at(0));
  EXPECT_THAT(names(), ElementsAre("tokyo", "london", "m0", "m1"));
  answer(site_at(0), CancelStanding::ended);
  EXPECT_EQ(names().back(), "tokyo") << "the next job";
}

TEST_F(JobCancelsTest, EndsWhenTheSiteThatNumbersTheJobHasNone) {
  cancel(1'000'000'001);
  answer(site_at(1), CancelStanding::unknown);
  EXPECT_THAT(said, ElementsAre("unknown"));
  EXPECT_FALSE(cancels.is_open(JobId{1'000'000'001}));
}

TEST_F(JobCancelsTest, AsksNobodyOfAJobThatIsKnownToBeOver) {
  cancels.note_over(JobId{1});
  cancel(1);
  cancel(100);
  cancel(2'000'000'001);
  EXPECT_THAT(said, ElementsAre("over", "unknown", "unknown"))
      << "over, not given out yet, of no site";
  EndedHandoff part;
  part.job = job_of(2);
  part.job.total_tasks = 3;
  part.tasks = 3;
  ended.add(part);
  cancel(2);
  EXPECT_EQ(said.back(), "over");
  EXPECT_THAT(asked, IsEmpty());
}

TEST_F(JobCancelsTest, BoundsThoseThatAreOpen) {
  for (const std::uint64_t job : {1, 2, 3, 4}) cancel(job);
  EXPECT_THAT(said, ElementsAre(to_string(ActorError::too_many)));
  cancel(3);
  EXPECT_EQ(said.size(), 1u) << "it is open already";
}

TEST_F(JobCancelsTest, BeginsAgainAfterARestart) {
  cancels.recall(JobId{1});
  EXPECT_THAT(asked, IsEmpty());
  cancels.ask_all();
  EXPECT_EQ(asked.size(), 4u);
  cancel(1);
  waits.run();
  EXPECT_EQ(said.size(), 1u) << "it is durable";
}

}  // namespace
}  // namespace muster::test
