#include "schedulers/site/actor/handoffs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/site/site_parts.hpp"

namespace muster::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct HandoffsTest : ::testing::Test {
  /// A message that is out.
  struct Message {
    HandoffTarget to;
    std::vector<std::uint64_t> jobs;
    Handoffs::Done done;
  };
  SiteParts parts;
  std::vector<Message> out;
  std::vector<JobId> taken;
  std::vector<JobId> refused;
  std::unique_ptr<Handoffs> handoffs = make(4);

  std::unique_ptr<Handoffs> make(std::size_t most) {
    Handoffs::Host host;
    host.hand = [this](const HandoffTarget& to, const std::vector<Job>& jobs, Handoffs::Done done) {
      out.push_back({to, {}, std::move(done)});
      for (const Job& job : jobs) out.back().jobs.push_back(job.id.value);
    };
    host.settled = [this](const HandoffTarget&, const std::vector<JobId>& ids,
                          const Handoffs::Verdicts& verdicts) {
      taken.insert(taken.end(), ids.begin(), ids.end());
      for (const SubmitVerdict& each : verdicts) refused.push_back(each.job);
    };
    host.retry = parts.retries.taker();
    host.note = parts.noting();
    return std::make_unique<Handoffs>(parts.peers, parts.store, most, std::move(host));
  }
  void push(const std::vector<std::uint64_t>& ids, std::size_t bytes = 100) {
    for (const std::uint64_t id : ids) {
      EXPECT_TRUE(handoffs->push(master_at(0), {job_of(id), {}, false, bytes}));
    }
    handoffs->send(master_at(0));
  }
  /// The message that is out; it is out no longer.
  Message next() {
    EXPECT_EQ(out.size(), 1u);
    if (out.empty()) return {};
    Message message = std::move(out.front());
    out.clear();
    return message;
  }
  std::vector<std::uint64_t> take_all() {
    const Message message = next();
    Handoffs::Verdicts verdicts;
    for (const std::uint64_t id : message.jobs) verdicts.push_back({JobId{id}, true, {}});
    message.done(std::move(verdicts));
    return message.jobs;
  }
  std::vector<std::uint64_t> fail(HandoffFailure how = HandoffFailure::unconfirmed) {
    const Message message = next();
    message.done(Failure<HandoffFailure>{how, {}});
    parts.retries.run();
    return message.jobs;
  }
};

TEST_F(HandoffsTest, HandsEachJobOverOnce) {
  push({1, 2});
  push({3});
  EXPECT_FALSE(handoffs->push(master_at(0), {job_of(3)})) << "it is on that way";
  EXPECT_THAT(take_all(), ElementsAre(1, 2)) << "one message at a time";
  EXPECT_THAT(take_all(), ElementsAre(3));
  EXPECT_THAT(out, IsEmpty());
  EXPECT_EQ(handoffs->jobs_in_hand(), 0u);
  EXPECT_THAT(taken, ElementsAre(JobId{1}, JobId{2}, JobId{3}));
}

TEST_F(HandoffsTest, CountsARepeatedVerdictOnce) {
  push({1, 2});
  const SubmitVerdict first{JobId{1}, true, {}};
  next().done(Handoffs::Verdicts{first, first});
  EXPECT_THAT(taken, ElementsAre(JobId{1}));
  EXPECT_THAT(next().jobs, ElementsAre(2)) << "it has no verdict";
}

TEST_F(HandoffsTest, AsksAgainAfterAPauseWhenItHeardOfNoJob) {
  push({1});
  next().done(Handoffs::Verdicts{});
  EXPECT_THAT(out, IsEmpty());
  parts.retries.run();
  EXPECT_THAT(take_all(), ElementsAre(1));
}

TEST_F(HandoffsTest, ForgetsInTheStoreWhatWasTaken) {
  parts.store.memory.handoffs = {{job_of(1), master_at(0)}, {job_of(1), master_at(1)}};
  push({1});
  take_all();
  ASSERT_EQ(parts.store.memory.handoffs.size(), 1u);
  EXPECT_EQ(parts.store.memory.handoffs[0].to, master_at(1)) << "the other part";
}

TEST_F(HandoffsTest, SettlesTheReplyWithTheLastJob) {
  int answers = 0;
  auto reply =
      std::make_shared<SubmissionReply>([&](const auto&) { ++answers; }, Handoffs::Verdicts{}, 1);
  reply->add_open(2);
  for (const std::uint64_t id : {1, 2}) handoffs->push(master_at(0), {job_of(id), reply});
  reply->written({});
  handoffs->send(master_at(0));
  const Message message = next();
  message.done(Handoffs::Verdicts{{JobId{1}, true, {}}});
  EXPECT_EQ(answers, 0);
  take_all();
  EXPECT_EQ(answers, 1);
}

TEST_F(HandoffsTest, CutsMessagesByBytes) {
  push({1, 2, 3}, kListBytes / 2);
  EXPECT_THAT(take_all(), ElementsAre(1, 2));
  EXPECT_THAT(take_all(), ElementsAre(3));
  push({4}, 2 * kListBytes);
  EXPECT_THAT(take_all(), ElementsAre(4)) << "a single one goes, whatever its size";
}

TEST_F(HandoffsTest, CutsMessagesByTasks) {
  handoffs->push(master_at(0), {job_of(1, Handoffs::kMaxTasks)});
  push({2});
  EXPECT_THAT(take_all(), ElementsAre(1));
  EXPECT_THAT(take_all(), ElementsAre(2));
}

TEST_F(HandoffsTest, SendsHalfOfWhatHasFailedAndGrowsAgain) {
  push({1, 2, 3, 4});
  EXPECT_THAT(fail(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(fail(), ElementsAre(1, 2));
  EXPECT_THAT(take_all(), ElementsAre(1));
  EXPECT_THAT(take_all(), ElementsAre(2, 3));
  EXPECT_THAT(take_all(), ElementsAre(4));
}

TEST_F(HandoffsTest, LetsAJobThatFailsAloneGoInTurnWithTheOthers) {
  push({1});
  fail();
  ASSERT_EQ(parts.notes.size(), 1u);
  EXPECT_THAT(parts.notes[0], ::testing::HasSubstr("100 bytes"));
  EXPECT_THAT(next().jobs, ElementsAre(1)) << "there are no others";
}

TEST_F(HandoffsTest, KeepsNobodyWaitingForAJobThatFailsAlone) {
  push({1});
  next().done(Failure<HandoffFailure>{HandoffFailure::unconfirmed, {}});
  push({2, 3, 4});
  parts.retries.run();
  EXPECT_THAT(take_all(), ElementsAre(2)) << "the others' turn, as few as may go after a failure";
  EXPECT_THAT(fail(), ElementsAre(1));
  EXPECT_THAT(take_all(), ElementsAre(3, 4)) << "that it failed says nothing of these";
}

TEST_F(HandoffsTest, KnowsWhatNobodyCanHave) {
  push({1});
  EXPECT_TRUE(handoffs->find(master_at(0), JobId{1})->sent);
  EXPECT_THAT(fail(HandoffFailure::never_left), ElementsAre(1));
  EXPECT_EQ(handoffs->find(master_at(0), JobId{1})->failures, 0u);
  const Message again = next();
  handoffs->push(master_at(0), {job_of(2)});
  again.done(Failure<HandoffFailure>{HandoffFailure::never_left, {}});
  EXPECT_FALSE(handoffs->find(master_at(0), JobId{1})->sent) << "until it is handed over again";
}

TEST_F(HandoffsTest, TakesASilentPeerToHaveWhatItWasHanded) {
  push({1});
  next().done(Failure<HandoffFailure>{HandoffFailure::unconfirmed, {}});
  EXPECT_TRUE(handoffs->find(master_at(0), JobId{1})->sent);
}

TEST_F(HandoffsTest, KeepsWhatWasRefusedUntilItIsEnded) {
  push({1});
  next().done(Handoffs::Verdicts{{JobId{1}, false, "no"}});
  EXPECT_THAT(refused, ElementsAre(JobId{1}));
  EXPECT_EQ(handoffs->jobs_in_hand(), 1u);
  handoffs->end(master_at(0), JobId{1});
  EXPECT_EQ(handoffs->jobs_in_hand(), 0u);
}

TEST_F(HandoffsTest, HandsNothingOverWhoseEndIsBeingKept) {
  handoffs->push(master_at(0), {job_of(1, 3)});
  const EndedHandoff ended =
      handoffs->begin_end(master_at(0), JobId{1}, JobOutcome::cancelled, "cancelled");
  EXPECT_EQ(ended.tasks, 3u);
  EXPECT_THAT(ended.job.tasks, IsEmpty());
  handoffs->send(master_at(0));
  EXPECT_THAT(out, IsEmpty());
  handoffs->resume(master_at(0), JobId{1});
  EXPECT_THAT(take_all(), ElementsAre(1)) << "it could not be kept";
}

TEST_F(HandoffsTest, TellsAJobFromAnotherOneOfItsNumber) {
  handoffs->push(master_at(0), {job_of(1)});
  EXPECT_FALSE(handoffs->holds_another(job_of(1)));
  Job other = job_of(1);
  other.user = "bob";
  EXPECT_TRUE(handoffs->holds_another(other));
  other.id = JobId{2};
  EXPECT_FALSE(handoffs->holds_another(other));
}

TEST_F(HandoffsTest, GoesOnEachWayByItself) {
  push({1});
  handoffs->push(site_at(1), {job_of(2)});
  handoffs->send_all();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1].to, site_at(1));
  EXPECT_EQ(handoffs->jobs_in_hand(), 2u);
}

}  // namespace
}  // namespace muster::test
