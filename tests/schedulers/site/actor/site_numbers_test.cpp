// A site whose store may not know how far its numbers have come.

#include "tests/schedulers/site/actor/site_actor_fixture.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::OpenSiteStore;
using test::SiteActorTest;
using test::Waiter;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(SiteActorTest, TakesNothingOnANewStoreBeforeEveryMasterHasToldItsHighestNumber) {
  site_store_.memory.asks_numbers = true;
  fakes_[0].report.newest = {JobId{7}, job_id_of(1, 50)};
  fakes_[1].tells_load = false;
  const SiteActor site = spawn_site(site_store_);
  run_for_s(5);
  submit(site, {with_token("ann", "1")});
  EXPECT_THAT(said(), ElementsAre(AllOf(HasSubstr("m1"), IsGolden())));
  EXPECT_THAT(site_store_.memory.handoffs, IsEmpty());
  EXPECT_THAT(ask<SiteFigures>(site, figures_atom_v).trouble, HasSubstr("learns from m1"));

  fakes_[1].tells_load = true;
  fakes_[1].report.newest = {JobId{41}};
  run_for_s(3);
  submit(site, {with_token("ann", "1")});
  EXPECT_THAT(said(), Contains("promised 200042"))
      << "its users may have been told as many numbers as may wait that nobody else has heard of";
  EXPECT_FALSE(site_store_.memory.asks_numbers);
  EXPECT_EQ(site_store_.memory.next_job, 200043u);
  system_.end(site);
}

TEST_F(SiteActorTest, AsksAnotherSiteTooWhichOfItsJobsItHas) {
  OpenSiteStore other_store;
  other_store.memory.forwarded.add(9);
  const SiteActor london = spawn_site(other_store, 1);
  site_store_.memory.asks_numbers = true;
  const SiteActor tokyo = spawn_site(site_store_, 0, london);
  run_for_s(3);
  submit(tokyo, {with_token("ann", "1")});
  EXPECT_THAT(said(), Contains("promised 200010"));
  system_.end(tokyo);
  system_.end(london);
}

TEST_F(SiteActorTest, TakesNothingBeforeWhatItHasLearntIsDurable) {
  site_store_.memory.asks_numbers = true;
  site_store_.slow = true;
  const SiteActor site = spawn_site(site_store_);
  run_for_s(3);
  submit(site, {with_token("ann", "1")});
  EXPECT_THAT(said(), ElementsAre(AllOf(HasSubstr("store"), IsGolden())));
  end_write(site, "the disk is full");
  run_for_s(1);
  ASSERT_EQ(site_store_.waiting.size(), 1u) << "it is tried again";
  end_write(site, "");
  site_store_.slow = false;
  submit(site, {with_token("ann", "1")});
  EXPECT_THAT(said(), Contains("promised 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, GoesOnTakingWhatOtherSitesLeaveToItWhileItLearns) {
  site_store_.memory.asks_numbers = true;
  fakes_[1].tells_load = false;
  const SiteActor site = spawn_site(site_store_);
  run_for_s(2);
  Job job = tasks(1);
  number_job(job, job_id_of(1, 3));
  forward(site, {job});
  run_for_s(2);
  EXPECT_THAT(said(), Contains("promised 1000000003"));
  system_.end(site);
}

TEST_F(SiteActorTest, DoesNotCallItsOwnJobsUnknownWhileItLearns) {
  site_store_.memory.asks_numbers = true;
  fakes_[1].tells_load = false;
  fakes_[0].standing = CancelStanding::over;
  const SiteActor site = spawn_site(site_store_);
  run_for_s(1);
  cancel(site, 33);
  run_for_s(3);
  EXPECT_THAT(said(), AllOf(Contains("m0 cancels 33"), Not(Contains("unknown 33"))));
  system_.end(site);
}

TEST_F(SiteActorTest, ANumberThatAMasterHasForAnotherJobIsALoudConflictThatCancelsNobody) {
  SiteDependencies parts = parts_of(site_store_, 0, other_);
  std::string noted;
  parts.note = [&](const std::string& text) { noted += text + "\n"; };
  const SiteActor site = system_.actors().spawn<SiteScheduler>(settings_, std::move(parts));
  run_for_s(0.5);
  fakes_[0].refusal = "the number 1 is that of another job";
  fakes_[0].conflict = true;
  fakes_[0].report.newest = {JobId{17}};
  submit(site, {tasks(2)});
  run_for_s(1);
  const JobView job = parts_shown(site, 1).at(0);
  EXPECT_EQ(job.state, ShownState::refused);
  EXPECT_EQ(job.reason, fakes_[0].refusal);
  EXPECT_THAT(noted, HasSubstr("m0 has another job 1"));
  EXPECT_THAT(said(), Not(Contains(HasSubstr("cancels 1"))))
      << "that would end the job which has the number rightly";

  fakes_[0].refusal.clear();
  fakes_[0].conflict = false;
  run_for_s(3);
  submit(site, {with_token("ann", "1")});
  EXPECT_THAT(said(), Contains("promised 200018")) << "it has learnt its numbers anew";
  system_.end(site);
}

TEST_F(SiteActorTest, AfterAConflictItLearnsAlsoWhenItIsKilledBeforeAllHaveTold) {
  fakes_[0].refusal = "the number 1 is that of another job";
  fakes_[0].conflict = true;
  fakes_[0].report.newest = {JobId{17}};
  SiteActor site = spawn_site(site_store_);
  run_for_s(0.5);
  fakes_[1].tells_load = false;
  submit(site, {tasks(2)});
  run_for_s(1);
  EXPECT_TRUE(site_store_.memory.asks_numbers);
  system_.end(site);
  site = spawn_site(site_store_);
  run_for_s(0.5);
  said();
  submit(site, {with_token("ann", "1")});
  EXPECT_THAT(said(), ElementsAre(AllOf(HasSubstr("m1"), IsGolden())));
  system_.end(site);
}

TEST_F(SiteActorTest, TheJobThatHasANumberRightlyCanBeCancelledAndWatchedAfterAConflict) {
  fakes_[0].refusal = fakes_[1].refusal = "the number 1 is that of another job";
  fakes_[0].conflict = fakes_[1].conflict = true;
  SiteActor site = spawn_site(site_store_);
  run_for_s(0.5);
  submit(site, {tasks(2)});
  run_for_s(3);
  for (int life = 0; life < 2; ++life) {
    said();
    {
      Waiter waiter(system_);
      waiter.watch(site, {JobId{1}});
      run_for_s(3);
    }
    EXPECT_THAT(said(), Not(Contains(HasSubstr("cancels 1"))))
        << "what was refused says nothing of the job that was not";
    system_.end(site);
    site = spawn_site(site_store_);
    run_for_s(0.5);
  }
  said();
  cancel(site, 1);
  run_for_s(3);
  EXPECT_THAT(said(), AllOf(Contains("m0 cancels 1"), Contains("ended 1")));
  system_.end(site);
}

TEST_F(SiteActorTest, AConflictOverAJobOfAnotherSiteIsThatOnesToLearnFrom) {
  OpenSiteStore london_store;
  const SiteActor london = spawn_site(london_store, 1);
  const SiteActor tokyo = spawn_site(site_store_, 0, london);
  run_for_s(0.5);
  fakes_[0].refusal = fakes_[1].refusal = "its number is that of another job";
  fakes_[0].conflict = fakes_[1].conflict = true;
  fakes_[0].report.newest = {JobId{17}};
  Job job = tasks(1);
  number_job(job, JobId{3});  // of Tokyo
  forward(london, {job});
  run_for_s(0.5);
  for (auto& fake : fakes_) fake.refusal.clear(), fake.conflict = false;
  said();
  submit(london, {with_token("ann", "1")});
  run_for_s(0.5);
  EXPECT_THAT(said(), Contains("promised 1000000001")) << "London goes on";
  run_for_s(5);
  submit(tokyo, {with_token("ann", "1")});
  run_for_s(2);
  submit(tokyo, {with_token("ann", "1")});
  run_for_s(2);
  EXPECT_THAT(said(), Contains("promised 200018"));
  system_.end(tokyo);
  system_.end(london);
}

}  // namespace
}  // namespace muster
