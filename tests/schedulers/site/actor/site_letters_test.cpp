#include "tests/schedulers/site/actor/site_actor_fixture.hpp"

// Jobs of a site whose ends are told.

namespace muster {
namespace {

using test::SiteActorTest;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SiteLettersTest : public SiteActorTest {
 protected:
  SiteLettersTest() { settings_.masters_per_job = 1; }

  SiteActor spawn() {
    SiteDependencies parts = parts_of(site_store_, 0, other_);
    parts.max_letters = 4;
    parts.send_letter = [this](Letter letter, std::function<void()> settled) {
      sent_.push_back(std::move(letter));
      settled_.push_back(std::move(settled));
    };
    return system_.actors().spawn<SiteScheduler>(settings_, std::move(parts));
  }
  static Job told(NotifyOn on = NotifyOn::end) {
    Job job = tasks(1);
    job.notify = {"me@example.org"};
    job.notify_on = on;
    return job;
  }
  void tell(std::uint64_t job, JobOutcome outcome = JobOutcome::completed) {
    const JobEnd end{JobId{job}, outcome, 0, 1, 1, outcome != JobOutcome::completed};
    for (const test::MasterOfSite& fake : fakes_) {
      if (!fake.listener) continue;
      caf::anon_send(fake.listener, over_atom_v, end);
      break;
    }
    run_for_s(1);
  }
  void forget_listeners() {
    for (test::MasterOfSite& fake : fakes_) fake.listener = nullptr;
  }

  std::vector<Letter> sent_;
  std::vector<std::function<void()>> settled_;
};

TEST_F(SiteLettersTest, AreKeptWithTheJobAndSentWhenItIsOver) {
  const SiteActor site = spawn();
  system_.run_until_s(0.5);
  submit(site, {told(), tasks(1)});
  EXPECT_EQ(site_store_.memory.letters.size(), 1U);
  run_for_s(1);
  EXPECT_THAT(said(), Contains("m0 watches 1"));
  tell(1, JobOutcome::failed);
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(std::get<JobIsOver>(sent_[0].what).end.outcome, JobOutcome::failed);
  EXPECT_EQ(site_store_.memory.letters.size(), 1U) << "it may not have arrived";
  settled_[0]();
  run_for_s(1);
  EXPECT_THAT(site_store_.memory.letters, IsEmpty());
  system_.end(site);
}

TEST_F(SiteLettersTest, NobodyWatchesAJobThatTellsNobody) {
  const SiteActor site = spawn();
  system_.run_until_s(0.5);
  submit(site, {tasks(1)});
  run_for_s(20);
  EXPECT_EQ(fakes_[0].asked + fakes_[1].asked, 0);
  system_.end(site);
}

TEST_F(SiteLettersTest, AnEndWhileTheSiteWasAwayIsTold) {
  const SiteActor site = spawn();
  system_.run_until_s(0.5);
  submit(site, {told()});
  run_for_s(1);
  system_.end(site);
  forget_listeners();
  fakes_[0].over = {{JobId{1}, JobOutcome::completed, 0, 1, 1, false}};
  const SiteActor again = spawn();
  run_for_s(3);
  EXPECT_EQ(sent_.size(), 1U);
  system_.end(again);
}

TEST_F(SiteLettersTest, WhatWasNotSettledIsSentAgainUnderItsId) {
  const SiteActor site = spawn();
  system_.run_until_s(0.5);
  submit(site, {told()});
  run_for_s(1);
  tell(1);
  system_.end(site);
  forget_listeners();
  const SiteActor again = spawn();
  run_for_s(3);
  ASSERT_EQ(sent_.size(), 2U);
  EXPECT_EQ(sent_[0].id, sent_[1].id);
  EXPECT_EQ(sent_[0].at, sent_[1].at);
  system_.end(again);
}

TEST_F(SiteLettersTest, AJobThatNoMasterTakesIsTold) {
  fakes_[0].refusal = fakes_[1].refusal = "fits nowhere";
  const SiteActor site = spawn();
  system_.run_until_s(0.5);
  submit(site, {told(NotifyOn::fail)});
  run_for_s(3);
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(std::get<JobIsOver>(sent_[0].what).end.outcome, JobOutcome::refused);
  system_.end(site);
}

TEST_F(SiteLettersTest, AJobThatOthersWaitForIsToldWhenTheyDoSoNoMore) {
  const SiteActor site = spawn();
  system_.run_until_s(0.5);
  Job follower = tasks(1);
  follower.after = {{{}, AfterEnd::ok, 1}};
  submit(site, {told(), follower});
  run_for_s(1);
  cancel(site, 2);
  run_for_s(3);
  tell(1);
  EXPECT_EQ(sent_.size(), 1U);
  system_.end(site);
}

TEST_F(SiteLettersTest, MoreThanTheBoundAreRefused) {
  const SiteActor site = spawn();
  system_.run_until_s(0.5);
  submit(site, {told(), told()});
  run_for_s(1);
  said();
  submit(site, {told()});
  EXPECT_THAT(said(), Contains(HasSubstr("refused"))) << "half of four are one user's";
  submit(site, {tasks(1)});
  run_for_s(1);
  EXPECT_THAT(said(), Contains(HasSubstr("promised")));
  system_.end(site);
}

TEST_F(SiteLettersTest, AWriteThatFailsLeavesNobodyToTell) {
  site_store_.trouble = "the disk is full";
  const SiteActor site = spawn();
  system_.run_until_s(0.5);
  submit(site, {told()});
  run_for_s(20);
  EXPECT_EQ(fakes_[0].asked + fakes_[1].asked, 0);
  EXPECT_THAT(sent_, IsEmpty());
  system_.end(site);
}

}  // namespace
}  // namespace muster
