#include <memory>

#include "tests/schedulers/site/actor/site_actor_fixture.hpp"

namespace muster {
namespace {

using test::part_end;
using test::SiteActorTest;
using test::Waiter;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(SiteActorTest, TellsWhoWatchesOnceAndOfTheWorstOfTheParts) {
  const SiteActor site = spawn_site(site_store_);
  Waiter waiter(system_);
  system_.run_until_s(0.5);
  submit(site, {tasks(4)});
  heard_.clear();
  waiter.watch(site, {JobId{1}});
  EXPECT_THAT(said(), UnorderedElementsAre("m0 watches 1", "m1 watches 1"));
  caf::anon_send(fakes_[0].listener, over_atom_v, part_end(0, 2, 4, JobOutcome::failed));
  system_.time().drain();
  EXPECT_THAT(waiter.told(), IsEmpty());
  EXPECT_THAT(said(), UnorderedElementsAre("m0 cancels 1", "m1 cancels 1"));
  caf::anon_send(fakes_[0].listener, over_atom_v, part_end(0, 2, 4, JobOutcome::failed));
  system_.time().drain();
  EXPECT_THAT(waiter.told(), IsEmpty()) << "the same part again is not the other one";
  caf::anon_send(fakes_[1].listener, over_atom_v, part_end(1, 2, 4, JobOutcome::cancelled));
  caf::anon_send(fakes_[1].listener, over_atom_v, part_end(1, 2, 4, JobOutcome::cancelled));
  system_.time().drain();
  EXPECT_THAT(waiter.told(), ElementsAre("1 failed"));
  system_.end(site);
}

TEST_F(SiteActorTest, APartAllOfWhoseTasksEndedByThemselvesLeavesTheOthersAlone) {
  const SiteActor site = spawn_site(site_store_);
  Waiter waiter(system_);
  system_.run_until_s(0.5);
  submit(site, {tasks(4)});
  waiter.watch(site, {JobId{1}});
  said();
  JobEnd with_failed_tasks = part_end(0, 2, 4, JobOutcome::failed);
  with_failed_tasks.broken = false;
  caf::anon_send(fakes_[0].listener, over_atom_v, with_failed_tasks);
  run_for_s(1);
  EXPECT_THAT(said(), IsEmpty()) << "nobody is asked to cancel anything";
  EXPECT_THAT(waiter.told(), IsEmpty());
  caf::anon_send(fakes_[1].listener, over_atom_v, part_end(1, 2, 4));
  system_.time().drain();
  EXPECT_THAT(waiter.told(), ElementsAre("1 failed"));
  system_.end(site);
}

TEST_F(SiteActorTest, AWatchThatComesAfterTheEndIsAnsweredAtOnce) {
  fakes_[0].over = {part_end(0, 2, 3)};
  fakes_[1].over = {part_end(1, 1, 3)};
  const SiteActor site = spawn_site(site_store_);
  Waiter waiter(system_);
  waiter.watch(site, {JobId{1}});
  EXPECT_THAT(waiter.told(), ElementsAre("at once: 1 completed"));
  waiter.watch(site, {JobId{1}});
  EXPECT_THAT(waiter.told(), ElementsAre("at once: 1 completed"));
  system_.end(site);
}

TEST_F(SiteActorTest, OfAJobInOnePartTheOtherMasterHearsThatNobodyWatchesItAnyMore) {
  const SiteActor site = spawn_site(site_store_);
  Waiter first(system_), second(system_);
  first.watch(site, {JobId{1}});
  second.watch(site, {JobId{1}});
  said();
  caf::anon_send(fakes_[0].listener, over_atom_v, part_end(0, 3, 3));
  system_.time().drain();
  EXPECT_THAT(first.told(), ElementsAre("1 completed"));
  EXPECT_THAT(second.told(), ElementsAre("1 completed"));
  EXPECT_THAT(said(), UnorderedElementsAre("m0 unwatches 1", "m1 unwatches 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, AListenerThatDiesIsDroppedAndMastersHearOfIt) {
  const SiteActor site = spawn_site(site_store_);
  Waiter first(system_), second(system_);
  first.watch(site, {JobId{1}, JobId{2}});
  second.watch(site, {JobId{2}});
  said();
  first.end();
  EXPECT_THAT(said(), UnorderedElementsAre("m0 unwatches 1", "m1 unwatches 1"))
      << "somebody else still watches job 2";
  second.end();
  EXPECT_THAT(said(), UnorderedElementsAre("m0 unwatches 2", "m1 unwatches 2"));
  system_.end(site);
}

TEST_F(SiteActorTest, AsksAMasterThatDidNotAnswerAgainWhileSomebodyWatches) {
  fakes_[1].answers = false;
  const SiteActor site = spawn_site(site_store_);
  Waiter waiter(system_);
  waiter.watch(site, {JobId{1}});
  EXPECT_THAT(said(), ElementsAre("m0 watches 1"));
  system_.run_until_s(1.2);
  fakes_[1].over = {part_end(0, 1, 1)};
  fakes_[1].answers = true;
  system_.run_until_s(3);
  EXPECT_THAT(waiter.told(), ElementsAre("1 completed"));
  EXPECT_THAT(said(), ::testing::Contains("m1 watches 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, AMasterThatIsAwayIsAskedNoMoreOftenWhenManyWatch) {
  fakes_[1].answers = false;
  const SiteActor site = spawn_site(site_store_);
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < 20; ++i) {
    waiters.push_back(std::make_unique<Waiter>(system_));
    waiters.back()->watch(site, {JobId{1}});
    run_for_s(0.2);
  }
  fakes_[1].asked = 0;
  run_for_s(9);
  EXPECT_LE(fakes_[1].asked, 8) << "once each time that it did not answer, after a pause";
  EXPECT_GE(fakes_[1].asked, 4);
  waiters.clear();
  system_.end(site);
}

TEST_F(SiteActorTest, WhoWatchesAJobThatNoMasterTakesHearsOfItsEnd) {
  fakes_[0].refusal = fakes_[1].refusal = "no";
  const SiteActor site = spawn_site(site_store_);
  Waiter early(system_), late(system_);
  early.watch(site, {JobId{1}});
  system_.run_until_s(0.5);
  submit(site, {tasks(2)});
  run_for_s(1);
  EXPECT_THAT(early.told(), ElementsAre("1 refused"));
  late.watch(site, {JobId{1}});
  EXPECT_THAT(late.told(), ElementsAre("at once: 1 refused"));
  system_.end(site);
}

TEST_F(SiteActorTest, TurnsAwayWhoWatchesMoreThanThereIsRoomFor) {
  SiteDependencies parts = parts_of(site_store_, 0, other_);
  parts.max_watches = 2;
  const SiteActor small = system_.actors().spawn<SiteScheduler>(settings_, std::move(parts));
  Waiter waiter(system_);
  waiter.watch(small, {JobId{1}, JobId{2}, JobId{3}});
  EXPECT_THAT(waiter.told(), ElementsAre("refused"));
  waiter.watch(small, {JobId{1}, JobId{2}});
  EXPECT_THAT(waiter.told(), IsEmpty());
  waiter.watch(small, {JobId{3}});
  EXPECT_THAT(waiter.told(), ElementsAre("refused"));
  system_.end(small);
}

}  // namespace
}  // namespace muster
