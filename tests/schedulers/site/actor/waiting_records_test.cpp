#include "schedulers/site/actor/waiting_records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/site/site_parts.hpp"

namespace muster::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct WaitingRecordsTest : ::testing::Test {
  SiteParts parts;
  Steps later;
  std::vector<std::uint64_t> begun;
  std::vector<std::string> said;
  Handoffs handoffs{parts.peers, parts.store, 500, {}};
  WaitingRoom room{{100, 100}, room_host()};
  WaitingRecords records{
      {parts.peers, parts.writer, handoffs, room}, later.taker(), [] { return Instant{}; }};

  WaitingRoom::Host room_host() {
    WaitingRoom::Host made;
    made.watch = made.unwatch = [](const std::vector<JobId>&) {};
    made.begin = [this](const std::vector<JobId>& jobs) {
      for (const JobId job : jobs) begun.push_back(job.value);
    };
    made.skip = [](const std::vector<SkippedJob>&) {};
    made.met = [this](const WaitingPair& pair) { records.met(pair); };
    made.later = [](const std::function<void()>&) {};
    made.wake = [](Instant) {};
    made.now = [] { return Instant{}; };
    return made;
  }
  void wait(std::uint64_t id, std::vector<AfterJob> after, bool held = false) {
    Job job = job_of(id);
    job.after = std::move(after);
    job.held = held;
    parts.store.memory.handoffs.push_back({job, site_at(0)});
    room.add(job);
    handoffs.push(site_at(0), {job});
  }
  void hold(std::uint64_t id, bool held) {
    records.hold(JobId{id}, held, [this](const Expected<JobId, ActorError>& answer) {
      said.push_back(answer ? "done" : to_string(answer.error().code));
    });
  }
  void over(std::uint64_t id) { room.hear({JobId{id}, JobOutcome::completed, 0, 1, 1}); }
  const Job& stored(std::uint64_t id) const {
    const auto found = std::ranges::find(parts.store.memory.handoffs, JobId{id},
                                         [](const Handoff& each) { return each.job.id; });
    return found->job;
  }
};

TEST_F(WaitingRecordsTest, AHoldIsDurableBeforeItIsAnswered) {
  wait(1, {{JobId{9}}});
  parts.store.slow = true;
  hold(1, true);
  EXPECT_THAT(said, IsEmpty());
  EXPECT_TRUE(room.is_held(JobId{1}));
  parts.end_write();
  EXPECT_THAT(said, ElementsAre("done"));
  EXPECT_TRUE(stored(1).held);
  over(9);
  EXPECT_THAT(begun, IsEmpty());
}

TEST_F(WaitingRecordsTest, AJobThatIsReleasedBeginsWhenThatIsDurable) {
  wait(1, {}, true);
  parts.store.slow = true;
  hold(1, false);
  EXPECT_THAT(begun, IsEmpty());
  parts.end_write();
  EXPECT_THAT(begun, ElementsAre(1));
  EXPECT_FALSE(stored(1).held);
}

TEST_F(WaitingRecordsTest, AHoldThatCouldNotBeKeptIsNone) {
  wait(1, {{JobId{9}}});
  parts.store.trouble = "disk full";
  hold(1, true);
  EXPECT_THAT(said, ElementsAre(to_string(ActorError::store_failed)));
  EXPECT_FALSE(room.is_held(JobId{1}));
  EXPECT_FALSE(handoffs.find(site_at(0), JobId{1})->job.held);
  over(9);
  EXPECT_THAT(begun, ElementsAre(1));
}

TEST_F(WaitingRecordsTest, AJobThatIsNotHereOrOnItsWayIsUnknown) {
  wait(1, {});
  handoffs.begin_waiting({JobId{1}});
  hold(1, true);
  hold(2, true);
  EXPECT_THAT(said, ElementsAre(to_string(ActorError::unknown), to_string(ActorError::unknown)));
}

TEST_F(WaitingRecordsTest, ARepeatedHoldWritesNothing) {
  wait(1, {{JobId{9}}}, true);
  parts.store.trouble = "disk full";
  hold(1, true);
  EXPECT_THAT(said, ElementsAre("done"));
}

TEST_F(WaitingRecordsTest, OfSeveralOrdersTheLastOneCounts) {
  wait(1, {});
  parts.store.slow = true;
  hold(1, true);
  hold(1, false);
  hold(1, false);
  parts.end_write();
  EXPECT_TRUE(room.is_held(JobId{1})) << "the release is not durable yet";
  parts.end_write("disk full");
  parts.end_write();
  EXPECT_THAT(said, ElementsAre("done", to_string(ActorError::store_failed), "done"));
  EXPECT_FALSE(room.is_held(JobId{1}));
  EXPECT_FALSE(stored(1).held);
}

TEST_F(WaitingRecordsTest, AResubmissionTakesThePlaceOfWhatFailed) {
  wait(1, {{JobId{7}}, {JobId{8}}});
  records.met({JobId{1}, JobId{7}, JobId{20}});
  later.run();
  std::vector<AfterJob> wanted{{JobId{20}}, {JobId{8}}};
  wanted[0].first = JobId{7};
  EXPECT_EQ(stored(1).after, wanted);
}

TEST_F(WaitingRecordsTest, EndsThatWereHeardAreWrittenTogether) {
  wait(1, {{JobId{7}}, {JobId{8}}, {JobId{9}}});
  wait(2, {{JobId{7}}, {JobId{9}}});
  over(7);
  over(8);
  ASSERT_EQ(later.size(), 1U) << "one write for all";
  EXPECT_FALSE(stored(1).after[0].met);
  later.run();
  EXPECT_TRUE(stored(1).after[0].met && stored(1).after[1].met && stored(2).after[0].met);
  EXPECT_FALSE(stored(1).after[2].met);
  EXPECT_EQ(later.size(), 0U);
  over(9);
  EXPECT_THAT(begun, ElementsAre(1, 2));
}

}  // namespace
}  // namespace muster::test
