#include "schedulers/site/actor/handoff_ends.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/site/site_parts.hpp"

namespace muster::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct HandoffEndsTest : ::testing::Test {
  SiteParts parts;
  std::vector<std::uint64_t> handed;
  std::vector<std::uint64_t> ended;
  std::vector<std::uint64_t> cancelled;
  bool was_forwarded = false;
  int asked = 0;
  JobNumbers numbers{
      parts.peers, parts.writer, 100, {parts.retries.taker(), [this] { ++asked; }, parts.noting()}};
  Handoffs handoffs{parts.peers, parts.store, 500, handoffs_host()};
  HandoffEnds ends{{parts.peers, parts.writer, numbers, handoffs}, 10, host()};

  Handoffs::Host handoffs_host() {
    return {[this](const HandoffTarget&, const std::vector<Job>& jobs, const Handoffs::Done&) {
              for (const Job& job : jobs) handed.push_back(job.id.value);
            },
            [](const HandoffTarget&, const std::vector<JobId>&, const Handoffs::Verdicts&) {},
            parts.retries.taker(), parts.noting()};
  }
  HandoffEnds::Host host() {
    HandoffEnds::Host made;
    made.now = [] { return at_s(5); };
    made.was_forwarded = [this](JobId) { return was_forwarded; };
    made.ended = [this](const EndedHandoff& each) { ended.push_back(each.job.id.value); };
    made.cancel_kept = [this](JobId job) { cancelled.push_back(job.value); };
    made.retry = parts.retries.taker();
    made.note = parts.noting();
    return made;
  }
  void SetUp() override { numbers.recall(100, false); }
  /// A part of a job of two tasks.
  void push(std::uint64_t id, const HandoffTarget& to, bool sent = false) {
    Job job = job_of(id);
    job.total_tasks = 2;
    handoffs.push(to, {job, {}, sent});
  }
  std::vector<CancelStanding> cancel(std::uint64_t job) {
    std::vector<CancelStanding> standings;
    ends.cancel({JobId{job}}, [&](const HandoffEnds::Verdicts& verdicts) {
      for (const CancelVerdict& each : verdicts) standings.push_back(each.standing);
    });
    return standings;
  }
  void refuse(std::uint64_t job, bool conflict = false) {
    ends.refuse(master_at(0), {{JobId{job}, false, "too large", conflict}});
  }
};

TEST_F(HandoffEndsTest, EndsWhatCanNeverHaveLeft) {
  push(1, master_at(0));
  EXPECT_THAT(cancel(1), ElementsAre(CancelStanding::ended));
  EXPECT_EQ(handoffs.jobs_in_hand(), 0u);
  EXPECT_THAT(ended, ElementsAre(1));
  ASSERT_EQ(parts.store.memory.ended.size(), 1u);
  EXPECT_EQ(parts.store.memory.ended[0].outcome, JobOutcome::cancelled);
  EXPECT_EQ(parts.store.memory.ended[0].at, at_s(5));
  EXPECT_THAT(cancel(1), ElementsAre(CancelStanding::over));
}

TEST_F(HandoffEndsTest, EndsNothingThatAMasterMayHave) {
  push(1, master_at(0), true);
  push(1, master_at(1));
  EXPECT_THAT(cancel(1), ElementsAre(CancelStanding::in_hand)) << "the highest of its parts";
  EXPECT_THAT(ended, ElementsAre(1)) << "the part that has not left";
  EXPECT_EQ(handoffs.jobs_in_hand(), 1u);
}

TEST_F(HandoffEndsTest, SendsWhoeverAsksFurtherDownForWhatWasHere) {
  EXPECT_THAT(cancel(1), ElementsAre(CancelStanding::passed_on)) << "numbered here";
  EXPECT_THAT(cancel(1'000'000'001), ElementsAre(CancelStanding::unknown));
  was_forwarded = true;
  EXPECT_THAT(cancel(1'000'000'001), ElementsAre(CancelStanding::passed_on));
}

TEST_F(HandoffEndsTest, HandsOverAgainWhoseEndCouldNotBeKept) {
  push(1, master_at(0));
  parts.store.trouble = "disk full";
  EXPECT_THAT(cancel(1), ElementsAre(CancelStanding::in_hand));
  EXPECT_THAT(handed, ElementsAre(1));
  EXPECT_THAT(ended, IsEmpty());
}

TEST_F(HandoffEndsTest, SaysNothingOfAnEndBeforeItIsDurable) {
  push(1, master_at(0));
  parts.store.slow = true;
  EXPECT_THAT(cancel(1), IsEmpty());
  EXPECT_EQ(handoffs.jobs_in_hand(), 1u);
  EXPECT_THAT(cancel(1), ElementsAre(CancelStanding::in_hand)) << "it ends already";
  parts.end_write();
  EXPECT_THAT(ended, ElementsAre(1)) << "once";
}

TEST_F(HandoffEndsTest, CancelsTheOtherPartsOfWhatWasRefused) {
  push(1, master_at(0), true);
  push(1, master_at(1), true);
  refuse(1);
  EXPECT_THAT(ended, ElementsAre(1));
  EXPECT_THAT(cancelled, ElementsAre(1));
  EXPECT_THAT(parts.store.memory.cancels, ElementsAre(JobId{1})) << "in the write of the end";
  refuse(1);
  EXPECT_EQ(ended.size(), 1u) << "a repeated verdict";
}

TEST_F(HandoffEndsTest, KeepsTheEndOfWhatWasRefusedOnce) {
  push(1, master_at(0), true);
  parts.store.slow = true;
  refuse(1);
  refuse(1);
  EXPECT_EQ(parts.store.waiting.size(), 1u);
}

TEST_F(HandoffEndsTest, CancelsNothingOfAJobThatIsWhole) {
  handoffs.push(master_at(0), {job_of(1), {}, true});
  refuse(1);
  EXPECT_THAT(ended, ElementsAre(1));
  EXPECT_THAT(cancelled, IsEmpty());
}

TEST_F(HandoffEndsTest, HandsOverAgainAfterAPauseWhenARefusalCouldNotBeKept) {
  push(1, master_at(0), true);
  parts.store.trouble = "disk full";
  refuse(1);
  EXPECT_THAT(handed, IsEmpty());
  parts.retries.run();
  EXPECT_THAT(handed, ElementsAre(1));
  EXPECT_THAT(cancelled, IsEmpty());
}

TEST_F(HandoffEndsTest, LearnsNumbersWhenAMasterHasAnotherJobOfThatNumber) {
  push(99, master_at(0), true);
  refuse(99, true);
  EXPECT_TRUE(numbers.learns());
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(parts.store.memory.asks_numbers);
  EXPECT_THAT(cancelled, IsEmpty()) << "the other job may be well";
  EXPECT_THAT(cancel(99), ElementsAre(CancelStanding::passed_on))
      << "its end says nothing of the other";
}

}  // namespace
}  // namespace muster::test
