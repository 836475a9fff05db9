#include "tests/schedulers/site/actor/site_actor_fixture.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::MasterOfSite;
using test::OpenSiteStore;
using test::SiteActorTest;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(SiteActorTest, SplitsAJobAmongTwoMastersAndPromisesWhenBothHaveTheirPart) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(3)});
  const auto all = said();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all.back(), "promised 1");
  const std::vector<std::string> parts(all.begin(), all.begin() + 2);
  const bool first_draw = parts[0].starts_with("m0") == (parts[0].ends_with("0 2"));
  EXPECT_THAT(parts, first_draw ? UnorderedElementsAre("m0 takes job 1: 0 2", "m1 takes job 1: 1")
                                : UnorderedElementsAre("m1 takes job 1: 0 2", "m0 takes job 1: 1"));
  EXPECT_THAT(site_store_.memory.handoffs, IsEmpty());
  system_.end(site);
}

TEST_F(SiteActorTest, GivesNothingToAHeavilyLoadedMaster) {
  fakes_[0].report.load = 0.9;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(2)});
  EXPECT_THAT(said(), ElementsAre("m1 takes job 1: 0 1", "promised 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, PromisesByItselfWhenAMasterDoesNotAnswerInTime) {
  fakes_[1].answers = false;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1), tasks(1), tasks(2)});
  EXPECT_THAT(said(), ::testing::Not(::testing::Contains("promised 1 2 3")));
  system_.run_until_s(1.6);
  EXPECT_THAT(said(), ::testing::Contains("promised 1 2 3"));
  EXPECT_FALSE(site_store_.memory.handoffs.empty());
  fakes_[1].answers = true;
  system_.run_until_s(4);
  EXPECT_THAT(site_store_.memory.handoffs, IsEmpty()) << "said again until it was taken";
  system_.end(site);
}

TEST_F(SiteActorTest, AMasterThatAnswersWithoutAVerdictIsAskedAgainAfterAPause) {
  for (MasterOfSite& fake : fakes_) fake.mute = true;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1)});
  run_for_s(2.2);
  EXPECT_EQ(said().size(), 6u) << "at once, four times after a pause, and the promise";
  for (MasterOfSite& fake : fakes_) fake.mute = false;
  run_for_s(1);
  EXPECT_THAT(said(), ElementsAre(::testing::EndsWith("takes job 1: 0")));
  EXPECT_THAT(site_store_.memory.handoffs, IsEmpty());
  system_.end(site);
}

TEST_F(SiteActorTest, RefusesMoreJobsThanMayWaitForTheLoads) {
  SiteDependencies parts = parts_of(site_store_, 0, other_);
  settings_.max_unrouted = 2;
  const SiteActor site = system_.actors().spawn<SiteScheduler>(settings_, std::move(parts));
  run_for_s(3600);  // nobody has a job: loads are not asked for any more
  for (MasterOfSite& fake : fakes_) fake.tells_load = false;
  submit(site, {tasks(1), tasks(1)});
  submit(site, {tasks(1)});
  EXPECT_THAT(said(), ElementsAre("refused")) << "the first ones still wait";
  run_for_s(3);
  EXPECT_THAT(said(), ::testing::Contains("promised 1 2"));
  submit(site, {tasks(1)});
  run_for_s(3);
  EXPECT_THAT(said(), ::testing::Contains("promised 3"));
  system_.end(site);
}

TEST_F(SiteActorTest, GoesOnAfterARestartAndNumbersOn) {
  fakes_[0].answers = fakes_[1].answers = false;
  const SiteActor before = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(before, {tasks(1)});
  system_.end(before);
  heard_.clear();
  fakes_[0].answers = fakes_[1].answers = true;
  const SiteActor after = spawn_site(site_store_);
  system_.run_until_s(1);
  EXPECT_THAT(said(), ElementsAre(::testing::EndsWith("takes job 1: 0")));
  submit(after, {tasks(1)});
  EXPECT_THAT(said(), ::testing::Contains("promised 2"));
  system_.end(after);
}

TEST_F(SiteActorTest, NumbersJobsApartFromOtherSitesAfterARestartToo) {
  for (const char* promise : {"promised 1000000001", "promised 1000000002"}) {
    const SiteActor site = spawn_site(site_store_, 1);
    system_.run_until_s(0.1);
    submit(site, {tasks(1)});
    EXPECT_THAT(said(), ::testing::Contains(promise));
    system_.end(site);
  }
}

TEST_F(SiteActorTest, TheSameTokenIsTheSameJob) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  Job job = tasks(1);
  job.token = "once";
  submit(site, {job});
  heard_.clear();
  submit(site, {job});
  EXPECT_THAT(said(), ElementsAre("promised 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, ARepeatedTokenSharesTheFateOfTheFirstWrite) {
  for (const std::string trouble : {"the disk is full", ""}) {
    OpenSiteStore fresh;
    std::swap(site_store_, fresh);
    const SiteActor site = spawn_site(site_store_);
    system_.run_until_s(to_seconds(system_.time().now()) + 0.5);
    site_store_.slow = true;
    submit(site, {with_token("ann", "once")});
    submit(site, {with_token("ann", "once"), with_token("ann", "twice")});
    EXPECT_THAT(said(), IsEmpty()) << "nothing is durable yet";
    ASSERT_EQ(site_store_.waiting.size(), 2u);
    end_write(site, trouble);
    end_write(site, "");
    const auto answers = said();
    if (trouble.empty()) {
      EXPECT_THAT(answers, ::testing::IsSupersetOf({"promised 1", "promised 1 2"}));
    } else {
      EXPECT_THAT(answers, UnorderedElementsAre("refused", "refused",
                                                ::testing::EndsWith("takes job 2: 0")));
    }
    site_store_.slow = false;
    submit(site, {with_token("ann", "once")});
    EXPECT_THAT(said(), ::testing::Contains(trouble.empty() ? "promised 1" : "promised 3"));
    system_.end(site);
  }
}

TEST_F(SiteActorTest, ATokenThatStandsForAnotherJobIsRefusedAfterARestartToo) {
  Job other = with_token("ann", "nightly");
  other.program.argv = {"another"};
  for (int life = 0; life < 2; ++life) {
    const SiteActor site = spawn_site(site_store_);
    system_.run_until_s(to_seconds(system_.time().now()) + 0.5);
    submit(site, {with_token("ann", "nightly")});
    EXPECT_THAT(said(), ::testing::Contains("promised 1"));
    submit(site, {with_token("ann", "new"), other});
    EXPECT_THAT(said(),
                ElementsAre(AllOf(HasSubstr("\"nightly\""), HasSubstr("job 1"), IsGolden())));
    submit(site, {with_token("ann", "nightly")});
    EXPECT_THAT(said(), ElementsAre("promised 1"));
    EXPECT_EQ(site_store_.memory.next_job, 2u) << "nothing of what was refused has a number";
    system_.end(site);
  }
}

TEST_F(SiteActorTest, ATokenThatStandsForAnotherJobThatIsBeingWrittenSharesItsFate) {
  for (const std::string trouble : {"the disk is full", ""}) {
    OpenSiteStore fresh;
    std::swap(site_store_, fresh);
    const SiteActor site = spawn_site(site_store_);
    system_.run_until_s(to_seconds(system_.time().now()) + 0.5);
    site_store_.slow = true;
    Job other = with_token("ann", "once");
    other.priority = 1;
    submit(site, {with_token("ann", "once")});
    submit(site, {other});
    EXPECT_THAT(said(), IsEmpty()) << "nothing is durable yet";
    ASSERT_EQ(site_store_.waiting.size(), 1u) << "there is nothing to write for it";
    end_write(site, trouble);
    if (trouble.empty()) {
      EXPECT_THAT(said(),
                  ::testing::Contains(::testing::StartsWith("refused: the token \"once\"")));
    } else {
      EXPECT_THAT(said(), ElementsAre("refused", "refused"));
      site_store_.slow = false;
      submit(site, {other});
      EXPECT_THAT(said(), ::testing::Contains("promised 2")) << "nobody has the token";
    }
    system_.end(site);
  }
}

TEST_F(SiteActorTest, OneTokenOfTwoDifferentJobsInASubmissionIsRefused) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  Job other = with_token("ann", "t");
  other.name = "another";
  submit(site, {with_token("ann", "t"), other});
  EXPECT_THAT(said(), ElementsAre(AllOf(HasSubstr("\"t\""), IsGolden())));
  submit(site, {with_token("ann", "t"), with_token("ann", "t")});
  EXPECT_THAT(said(), ::testing::Contains("promised 1 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, OfATokenFromBeforeDigestsWereKeptAnyJobIsTheSame) {
  site_store_.memory.tokens = {{"t", JobId{1}, "ann"}};
  site_store_.memory.next_job = 2;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {with_token("ann", "t")});
  EXPECT_THAT(said(), ElementsAre("promised 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, AJobThatIsForwardedAgainSharesTheFateOfTheFirstWrite) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  site_store_.slow = true;
  Job job = tasks(1);
  job.id = job_id_of(1, 7);
  forward(site, {job});
  forward(site, {job});
  EXPECT_THAT(said(), IsEmpty()) << "nothing is durable yet";
  ASSERT_EQ(site_store_.waiting.size(), 1u);
  end_write(site, "the disk is full");
  EXPECT_THAT(said(), ElementsAre("refused", "refused"));
  site_store_.slow = false;
  forward(site, {job});
  EXPECT_THAT(said(), ::testing::Contains("promised 1000000007"));
  system_.end(site);
}

TEST_F(SiteActorTest, TheSameTokenOfTwoUsersIsTwoJobsAfterARestartToo) {
  for (int life = 0; life < 2; ++life) {
    const SiteActor site = spawn_site(site_store_);
    system_.run_until_s(to_seconds(system_.time().now()) + 0.5);
    submit(site, {with_token("ann", "1")});
    EXPECT_THAT(said(), ::testing::Contains("promised 1"));
    submit(site, {with_token("bob", "1")});
    EXPECT_THAT(said(), ::testing::Contains("promised 2"));
    system_.end(site);
  }
}

TEST_F(SiteActorTest, AUsersTokenDoesNotHideAForwardedJob) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {with_token("ann", "forwarded 1000000007")});
  heard_.clear();
  Job job = tasks(1);
  job.id = job_id_of(1, 7);
  forward(site, {job});
  EXPECT_THAT(said(), ::testing::Contains(::testing::HasSubstr("takes job 1000000007")));
  system_.end(site);
}

TEST_F(SiteActorTest, AnOldTokenHasTheUserOfItsJobWhereThatIsStillThere) {
  Job job = with_token("ann", "1");
  job.id = JobId{1};
  site_store_.memory.handoffs.push_back({job, {false, 0}});
  site_store_.memory.tokens = {{"1", JobId{1}}, {"2", JobId{2}}};
  site_store_.memory.next_job = 3;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {with_token("ann", "1")});
  EXPECT_THAT(said(), ::testing::Contains("promised 1"));
  submit(site, {with_token("bob", "1")});
  EXPECT_THAT(said(), ::testing::Contains("promised 3"));
  submit(site, {with_token("bob", "2")});
  EXPECT_THAT(said(), ::testing::Contains("promised 2")) << "nobody knows whose it is";
  system_.end(site);
}

TEST_F(SiteActorTest, ShowsTheNewestOfTheJobsOnTheirWayAndNoMoreThanAsked) {
  fakes_[0].answers = fakes_[1].answers = false;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  std::vector<Job> jobs(300, with_token("ann", ""));
  for (std::size_t i = 0; i < jobs.size(); i += 2) jobs[i].user = "bob";
  jobs.push_back(tasks(2));  // with a part for each master
  submit(site, jobs);
  EXPECT_THAT(ids_shown(site, {.most = 3}), ElementsAre(301, 301, 300, 299));
  EXPECT_THAT(ids_shown(site, {.filter = {.user = "bob"}, .most = 2}), ElementsAre(299, 297));
  EXPECT_THAT(ids_shown(site, {.active = false, .most = 2}), IsEmpty());
  EXPECT_EQ(ids_shown(site, {}).size(), 101u) << "100 jobs unless said";
  const auto behind = [&](const char* place) {
    JobsQuestion page{.most = 2};
    page.begin_behind(job_cursor_from(place).value());
    return ids_shown(site, page);
  };
  EXPECT_THAT(behind("active:0:301"), ElementsAre(300, 299));
  EXPECT_THAT(behind("active:0:2"), ElementsAre(1));
  EXPECT_THAT(behind("over:0:301"), IsEmpty());
  const JobsQuestion some = JobsQuestion::parts_of({JobId{7}, JobId{301}, JobId{999}});
  EXPECT_THAT(ids_shown(site, some), ElementsAre(301, 301, 7));
  system_.end(site);
}

TEST_F(SiteActorTest, RefusesWhatItCannotWriteDown) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  site_store_.trouble = "the disk is full";
  submit(site, {tasks(1)});
  EXPECT_THAT(said(), ElementsAre("refused"));
  system_.end(site);
}

TEST_F(SiteActorTest, WhatWasRefusedAndIsThereAfterARestartAllTheSameKeepsItsNumber) {
  site_store_.keeps_refused = true;
  site_store_.trouble = "the disk is full";
  {
    const SiteActor site = spawn_site(site_store_);
    system_.run_until_s(0.5);
    submit(site, {with_token("ann", "nightly")});
    EXPECT_THAT(said(), ElementsAre("refused"));
    system_.end(site);
  }
  site_store_.trouble.clear();
  site_store_.before_refused.reset();
  const SiteActor site = spawn_site(site_store_);
  run_for_s(1);
  submit(site, {with_token("ann", "nightly")});
  EXPECT_THAT(said(), ElementsAre(::testing::EndsWith("takes job 1: 0"), "promised 1"));
  submit(site, {with_token("ann", "weekly")});
  EXPECT_THAT(said(), ::testing::Contains("promised 2"));
  system_.end(site);
}

TEST_F(SiteActorTest, AForwardedJobWhoseWriteWasRefusedIsHandedToOneMasterAfterARestart) {
  site_store_.keeps_refused = true;
  site_store_.trouble = "the disk is full";
  Job job = tasks(1);
  number_job(job, job_id_of(1, 7));
  {
    const SiteActor site = spawn_site(site_store_);
    system_.run_until_s(0.5);
    for (int i = 0; i < 10; ++i) forward(site, {job});  // each time a master is drawn
    site_store_.trouble.clear();
    fakes_[0].answers = fakes_[1].answers = false;
    forward(site, {job});
    system_.end(site);
  }
  EXPECT_EQ(site_store_.memory.handoffs.size(), 1u) << "nothing is left of what was refused before";
  said();
  fakes_[0].answers = fakes_[1].answers = true;
  const SiteActor site = spawn_site(site_store_);
  run_for_s(3);
  forward(site, {job});
  EXPECT_THAT(said(), ::testing::Each(::testing::HasSubstr("1000000007"))) << "once handed over";
  system_.end(site);
}

TEST_F(SiteActorTest, LeavesAJobToTheSiteThatIsNearestToItsUserAndThatTakesItOnce) {
  const SiteActor london = spawn_site(other_store_, 1);
  const SiteActor tokyo = spawn_site(site_store_, 0, london);
  system_.run_until_s(0.5);
  Job job = tasks(1);
  job.origin = GeoPoint{48.9, 2.4};  // Paris
  submit(tokyo, {job});
  EXPECT_THAT(said(), ElementsAre(::testing::EndsWith("takes job 1: 0"), "promised 1"));
  EXPECT_THAT(site_store_.memory.handoffs, IsEmpty());
  ASSERT_EQ(other_store_.memory.tokens.size(), 1u);
  Job again = job;
  again.id = JobId{1};
  again.tasks[0].id = task_id_of(JobId{1}, 0);
  caf::anon_send(london, forward_atom_v, std::vector<Job>{again});
  system_.time().drain();
  EXPECT_THAT(said(), IsEmpty());
  system_.end(tokyo);
  system_.end(london);
}

TEST_F(SiteActorTest, WhenAPartIsGivenUpTheOthersAreCancelledOnce) {
  site_store_.memory.next_job = 6;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  fakes_[1].report.broken = {JobId{5}};
  system_.run_until_s(3.5);
  EXPECT_THAT(said(), UnorderedElementsAre("m0 cancels 5", "m1 cancels 5"));
  system_.end(site);
}

TEST_F(SiteActorTest, WhenMoreTasksHaveFailedWithAllMastersThanMayTheRestIsCancelledOnce) {
  site_store_.memory.next_job = 7;
  for (MasterOfSite& fake : fakes_) {
    fake.report.active_jobs = 2;
    fake.report.counting = 2;
  }
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  fakes_[0].report.failed = {{JobId{5}, 1, 2}, {JobId{6}, 3, 9}};
  fakes_[1].report.failed = {{JobId{5}, 1, 2}};
  system_.run_until_s(1000.5);
  EXPECT_THAT(said(), IsEmpty()) << "two of job 5 may fail";
  fakes_[1].report.failed = {{JobId{5}, 2, 2}};
  system_.run_until_s(1003.5);
  EXPECT_THAT(said(), UnorderedElementsAre("m0 cancels 5", "m1 cancels 5"));
  system_.end(site);
}

TEST_F(SiteActorTest, PartsThatAreOverDoNotKeepItAsking) {
  for (MasterOfSite& fake : fakes_) fake.report.active_jobs = 1;
  fakes_[0].report.failed = {{JobId{5}, 1, 2}};
  fakes_[0].report.counting = 1;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(100);
  EXPECT_GT(fakes_[0].loads_asked, 90);
  fakes_[0].report.counting = 0;
  fakes_[0].loads_asked = 0;
  system_.run_until_s(1100);
  EXPECT_LT(fakes_[0].loads_asked, 20);
  system_.end(site);
}

TEST_F(SiteActorTest, WhatBecomesOfAJobThatCameWhileNobodyHadOneIsHeardOf) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(100.5);  // nobody is asked any more
  submit(site, {tasks(2)});
  run_for_s(0.1);
  said();
  for (MasterOfSite& fake : fakes_) fake.report.active_jobs = 1;
  fakes_[0].report.broken = {JobId{1}};
  run_for_s(3);
  EXPECT_THAT(said(), ::testing::Contains("m1 cancels 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, ACancelOfWhatWasGivenUpIsDurableBeforeAnybodyIsAsked) {
  site_store_.memory.next_job = 6;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  site_store_.slow = true;
  fakes_[1].report.broken = {JobId{5}};
  system_.run_until_s(1.5);
  fakes_[1].report.broken.clear();  // it does not tell of it for ever
  EXPECT_THAT(said(), IsEmpty());
  ASSERT_EQ(site_store_.waiting.size(), 1u);
  end_write(site, "the disk is full");
  EXPECT_THAT(said(), IsEmpty());
  run_for_s(3);
  ASSERT_EQ(site_store_.waiting.size(), 1u) << "tried again";
  end_write(site, "");
  EXPECT_THAT(said(), UnorderedElementsAre("m0 cancels 5", "m1 cancels 5"));
  system_.end(site);
}

TEST_F(SiteActorTest, WhatWasGivenUpIsLeftToTheSiteThatHasNumberedItUnlessThatGoes) {
  const std::uint64_t job = job_id_of(1, 5).value;
  fakes_[1].report.broken = {JobId{job}};
  fakes_[0].report.active_jobs = 1;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(5);
  EXPECT_THAT(said(), IsEmpty()) << "neither before it was heard first nor after";
  system_.end(other_);
  run_for_s(40);
  const std::string id = std::to_string(job);
  EXPECT_THAT(said(), UnorderedElementsAre("m0 cancels " + id, "m1 cancels " + id));
  EXPECT_THAT(site_store_.memory.cancels, ElementsAre(JobId{job}))
      << "the other site has to confirm it";
  system_.end(site);
}

TEST_F(SiteActorTest, WhatTheSiteThatHasNumberedItCancelsIsNotCancelledAgainWhenThatGoes) {
  const std::uint64_t job = job_id_of(1, 5).value;
  fakes_[1].report.broken = {JobId{job}};
  fakes_[0].report.active_jobs = 1;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(5);
  caf::anon_send(site, cancel_atom_v, std::vector<JobId>{JobId{job}});
  system_.time().drain();
  system_.end(other_);
  run_for_s(40);
  EXPECT_THAT(said(), IsEmpty());
  system_.end(site);
}

TEST_F(SiteActorTest, ARepeatedForwardIsKnownHoweverManySubmissionsCameSinceAndOverRestarts) {
  Job job = tasks(1);
  job.id = job_id_of(1, 7);
  for (int life = 0; life < 2; ++life) {
    SiteDependencies parts = parts_of(site_store_, 0, other_);
    settings_.tokens = 2;
    const SiteActor site = system_.actors().spawn<SiteScheduler>(settings_, std::move(parts));
    run_for_s(0.5);
    if (life == 0) forward(site, {job});
    for (int i = 0; i < 5; ++i) submit(site, {with_token("ann", std::to_string(5 * life + i))});
    heard_.clear();
    forward(site, {job});
    EXPECT_THAT(said(), ElementsAre("promised 1000000007"));
    system_.end(site);
  }
}

}  // namespace
}  // namespace muster
