#include "tests/schedulers/site/actor/site_actor_fixture.hpp"

namespace muster {
namespace {

using test::part_end;
using test::SiteActorTest;
using test::Waiter;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(SiteActorTest, AJobThatAMasterRefusesIsOverForEverybodyToSee) {
  fakes_[0].refusal = fakes_[1].refusal = "the task is not valid";
  for (int life = 0; life < 2; ++life) {
    const SiteActor site = spawn_site(site_store_);
    run_for_s(0.5);
    if (life == 0) submit(site, {with_token("ann", "1")});
    EXPECT_THAT(ids_shown(site, {.active = false}), ElementsAre(1));
    EXPECT_THAT(ids_shown(site, {.over = false}), IsEmpty());
    const JobView job = parts_shown(site, 1).at(0);
    EXPECT_EQ(job.state, ShownState::refused);
    EXPECT_EQ(job.reason, fakes_[0].refusal);
    EXPECT_EQ(job.tasks, 1U);
    EXPECT_EQ(job.user, "ann");
    EXPECT_TRUE(job.over.has_value());
    EXPECT_THAT(site_store_.memory.handoffs, IsEmpty());
    system_.end(site);
  }
  EXPECT_THAT(said(), ElementsAre(::testing::EndsWith("refuses job 1: 0"), "promised 1"));
}

TEST_F(SiteActorTest, WhenAMasterRefusesAPartTheOthersAreCancelled) {
  fakes_[1].refusal = "no";
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(2)});
  EXPECT_THAT(said(), ::testing::IsSupersetOf({"promised 1", "m0 cancels 1"}));
  EXPECT_THAT(site_store_.memory.cancels, IsEmpty()) << "all have confirmed";
  system_.end(site);
}

TEST_F(SiteActorTest, ARefusalThatCannotBeWrittenDownIsNotForgotten) {
  fakes_[0].refusal = fakes_[1].refusal = "no";
  site_store_.takes_no_ends = true;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1)});
  EXPECT_EQ(site_store_.memory.handoffs.size(), 1u);
  EXPECT_EQ(parts_shown(site, 1).at(0).state, ShownState::handing_over);
  site_store_.takes_no_ends = false;
  run_for_s(1);
  EXPECT_EQ(parts_shown(site, 1).at(0).state, ShownState::refused);
  system_.end(site);
}

TEST_F(SiteActorTest, ACancelIsAnsweredWhenEverybodyHasConfirmedIt) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1)});
  heard_.clear();
  cancel(site, 1);
  EXPECT_THAT(said(), UnorderedElementsAre("m0 cancels 1", "m1 cancels 1", "ended 1"));
  EXPECT_THAT(site_store_.memory.cancels, IsEmpty());
  fakes_[0].standing = fakes_[1].standing = CancelStanding::over;
  cancel(site, 1);
  EXPECT_THAT(said(), ::testing::Contains("over 1"));
  fakes_[0].standing = fakes_[1].standing = CancelStanding::unknown;
  cancel(site, 77);
  EXPECT_THAT(said(), ::testing::Contains("unknown 77"));
  system_.end(site);
}

TEST_F(SiteActorTest, ACancelThatAMasterDoesNotConfirmIsRepeatedUntilItDoesOverRestartsToo) {
  const SiteActor before = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(before, {tasks(1)});
  fakes_[1].answers = false;
  heard_.clear();
  cancel(before, 1);
  run_for_s(1.5);
  EXPECT_THAT(said(), ElementsAre("m0 cancels 1")) << "no answer yet";
  run_for_s(1);
  EXPECT_THAT(said(), ElementsAre("ended 1, not by m1"));
  EXPECT_THAT(site_store_.memory.cancels, ElementsAre(JobId{1}));
  system_.end(before);
  const SiteActor after = spawn_site(site_store_);
  run_for_s(3);
  EXPECT_THAT(site_store_.memory.cancels, ElementsAre(JobId{1}));
  heard_.clear();
  fakes_[1].answers = true;
  run_for_s(3);
  EXPECT_THAT(said(), ElementsAre("m1 cancels 1"));
  EXPECT_THAT(site_store_.memory.cancels, IsEmpty());
  system_.end(after);
}

TEST_F(SiteActorTest, ACancelOfANumberThatNobodyHasYetIsForgotten) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  fakes_[1].answers = false;
  cancel(site, 1);
  EXPECT_THAT(said(), ::testing::Contains("unknown 1")) << "whoever is silent";
  EXPECT_THAT(site_store_.memory.cancels, IsEmpty());
  fakes_[1].answers = true;
  submit(site, {tasks(1)});
  run_for_s(5);
  EXPECT_THAT(said(), ::testing::Not(::testing::Contains(::testing::HasSubstr("cancels 1"))));
  system_.end(site);
}

TEST_F(SiteActorTest, ACancelOfANumberOfNoSiteIsAnsweredWhoeverIsSilent) {
  SiteDependencies parts = parts_of(site_store_, 0, other_);
  parts.site_numbers = 2;
  const SiteActor site = system_.actors().spawn<SiteScheduler>(settings_, std::move(parts));
  fakes_[0].answers = fakes_[1].answers = false;
  system_.run_until_s(0.5);
  cancel(site, job_id_of(2, 1).value);
  EXPECT_THAT(said(), ElementsAre("unknown 2000000001"));
  EXPECT_THAT(site_store_.memory.cancels, IsEmpty());
  system_.end(site);
}

TEST_F(SiteActorTest, ACancelOfAJobThatIsKnownToBeOverIsAnsweredWhoeverIsSilent) {
  const SiteActor site = spawn_site(site_store_);
  Waiter waiter(system_);
  system_.run_until_s(0.5);
  submit(site, {tasks(4)});
  waiter.watch(site, {JobId{1}});
  caf::anon_send(fakes_[0].listener, over_atom_v, part_end(0, 2, 4));
  system_.time().drain();
  fakes_[0].answers = fakes_[1].answers = false;
  heard_.clear();
  cancel(site, 1);
  EXPECT_THAT(said(), IsEmpty()) << "a part of it may be there to be cancelled";
  run_for_s(3);
  EXPECT_THAT(said(), ::testing::Contains("passed on 1, not by m0, not by m1"));
  fakes_[0].answers = fakes_[1].answers = true;
  fakes_[0].standing = fakes_[1].standing = CancelStanding::over;
  run_for_s(3);
  fakes_[0].answers = fakes_[1].answers = false;
  heard_.clear();
  cancel(site, 1);
  EXPECT_THAT(said(), ElementsAre("over 1"));

  submit(site, {tasks(1)});
  fakes_[0].answers = fakes_[1].answers = true;
  run_for_s(3);
  waiter.watch(site, {JobId{2}});
  caf::anon_send(fakes_[0].listener, over_atom_v, JobEnd{JobId{2}, JobOutcome::completed, 0, 1, 1});
  system_.time().drain();
  fakes_[0].answers = fakes_[1].answers = false;
  heard_.clear();
  cancel(site, 2);
  EXPECT_THAT(said(), ElementsAre("over 2"));
  system_.end(site);
}

TEST_F(SiteActorTest, AJobThatHasNotLeftIsCancelledHere) {
  fakes_[0].answers = fakes_[1].answers = false;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(2)});
  submit(site, {tasks(2)});  // waits behind the first
  cancel(site, 2);
  const std::vector<JobView> parts = parts_shown(site, 2);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].state, ShownState::cancelled);
  EXPECT_EQ(parts[1].state, ShownState::cancelled);
  heard_.clear();
  fakes_[0].answers = fakes_[1].answers = true;
  run_for_s(5);
  EXPECT_THAT(said(), ::testing::Not(::testing::Contains(::testing::HasSubstr("takes job 2"))));
  EXPECT_THAT(site_store_.memory.handoffs, IsEmpty());
  EXPECT_THAT(site_store_.memory.cancels, IsEmpty());
  system_.end(site);
}

TEST_F(SiteActorTest, AJobThatMayHaveLeftIsCancelledWhenItHasArrived) {
  const SiteActor london = spawn_site(other_store_, 1);
  const SiteActor tokyo = spawn_site(site_store_, 0, london);
  fakes_[0].answers = fakes_[1].answers = false;
  system_.run_until_s(0.5);
  Job job = tasks(1);
  job.origin = GeoPoint{48.9, 2.4};  // Paris: London is to have it
  submit(tokyo, {job});
  cancel(tokyo, 1);
  run_for_s(2.5);
  EXPECT_THAT(said(), ::testing::Contains("passed on 1, not by m0, not by m1, not by london"));
  fakes_[0].answers = fakes_[1].answers = true;
  run_for_s(5);
  const auto all = said();
  const auto taken = std::find_if(all.begin(), all.end(), [](const std::string& text) {
    return text.ends_with("takes job 1: 0");
  });
  ASSERT_NE(taken, all.end());
  EXPECT_THAT(std::vector(taken, all.end()),
              ::testing::IsSupersetOf({"m0 cancels 1", "m1 cancels 1"}))
      << "what was said before it came does not count";
  EXPECT_THAT(site_store_.memory.cancels, IsEmpty());
  system_.end(tokyo);
  system_.end(london);
}

TEST_F(SiteActorTest, ACancelThatOvertakesItsJobIsAskedForAgainAsSoonAsTheJobHasArrived) {
  SiteDependencies parts = parts_of(site_store_, 0, other_);
  settings_.hand_retry = std::chrono::minutes{10};
  const SiteActor site = system_.actors().spawn<SiteScheduler>(settings_, std::move(parts));
  fakes_[0].is_late = fakes_[1].is_late = true;
  fakes_[0].standing = fakes_[1].standing = CancelStanding::unknown;
  system_.run_until_s(0.5);
  submit(site, {tasks(1)});
  cancel(site, 1);
  run_for_s(0.2);
  EXPECT_THAT(site_store_.memory.cancels, ElementsAre(JobId{1})) << "the job is still on its way";
  fakes_[0].standing = fakes_[1].standing = CancelStanding::ended;
  for (std::size_t i = 0; i < masters_.size(); ++i) {
    if (fakes_[i].say_taken) {
      caf::anon_send(masters_[i], Wakeup{std::exchange(fakes_[i].say_taken, {})});
    }
  }
  run_for_s(0.1);
  EXPECT_THAT(site_store_.memory.cancels, IsEmpty());
  EXPECT_THAT(said(), ::testing::Contains("ended 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, ACancelThatIsNotDurableIsNotPromised) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1)});
  site_store_.trouble = "the disk is full";
  cancel(site, 1);
  EXPECT_THAT(said(), ::testing::Contains("ended 1")) << "all have confirmed: no promise is left";
  fakes_[1].answers = false;
  cancel(site, 1);
  run_for_s(2.5);
  EXPECT_THAT(said(), ::testing::Contains("refused"));
  EXPECT_EQ(ask<SiteFigures>(site, figures_atom_v).trouble, site_store_.trouble);
  site_store_.trouble.clear();
  submit(site, {tasks(1)});
  EXPECT_EQ(ask<SiteFigures>(site, figures_atom_v).trouble, "");
  system_.end(site);
}

TEST_F(SiteActorTest, ACancelThatCouldNotBeKeptIsWrittenWhenItIsRepeated) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1)});
  fakes_[1].answers = false;
  site_store_.trouble = "the disk is full";
  cancel(site, 1);
  run_for_s(2.5);
  EXPECT_THAT(said(), ::testing::Contains("refused"));
  site_store_.trouble.clear();
  cancel(site, 1);
  EXPECT_THAT(site_store_.memory.cancels, ElementsAre(JobId{1})) << "holds over a restart";
  run_for_s(2.5);
  EXPECT_THAT(said(), ::testing::Contains("ended 1, not by m1"));
  system_.end(site);
}

TEST_F(SiteActorTest, RefusesMoreCancelsThanMayBeOpen) {
  site_store_.memory.next_job = 100;
  fakes_[1].answers = false;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  for (std::uint64_t job = 1; job <= 3; ++job) cancel(site, job);
  heard_.clear();
  cancel(site, 4);
  EXPECT_THAT(said(), ElementsAre("refused"));
  system_.end(site);
}

TEST_F(SiteActorTest, AUsersCancelIsDurableBeforeAnybodyIsAsked) {
  site_store_.memory.next_job = 6;
  const SiteActor site = spawn_site(site_store_);
  run_for_s(0.5);
  site_store_.slow = true;
  cancel(site, 5);
  run_for_s(3);
  EXPECT_THAT(said(), IsEmpty()) << "a master that was asked tells of the job no more";
  end_write(site, "");
  run_for_s(1);
  EXPECT_THAT(said(), ::testing::IsSupersetOf({"m0 cancels 5", "m1 cancels 5"}));
  system_.end(site);
}

}  // namespace
}  // namespace muster
