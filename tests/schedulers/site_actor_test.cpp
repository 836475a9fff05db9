#include "tests/schedulers/site_actor_fixture.hpp"

namespace muster {
namespace {

using test::OpenBook;
using test::SiteActorTest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(SiteActorTest, SplitsAJobAmongTwoMastersAndPromisesWhenBothHaveTheirPart) {
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(site, {tasks(3)});
  const auto all = said();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all.back(), "promised 1");
  const std::vector<std::string> parts(all.begin(), all.begin() + 2);
  const bool first_draw = parts[0].starts_with("m0") == (parts[0].ends_with("0 2"));
  EXPECT_THAT(parts, first_draw ? UnorderedElementsAre("m0 takes job 1: 0 2", "m1 takes job 1: 1")
                                : UnorderedElementsAre("m1 takes job 1: 0 2", "m0 takes job 1: 1"));
  EXPECT_THAT(book_.memory.handoffs, IsEmpty());
  system_.end(site);
}

TEST_F(SiteActorTest, GivesNothingToAHeavilyLoadedMaster) {
  fakes_[0].report.load = 0.9;
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(site, {tasks(2)});
  EXPECT_THAT(said(), ElementsAre("m1 takes job 1: 0 1", "promised 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, PromisesByItselfWhenAMasterDoesNotAnswerInTime) {
  fakes_[1].answers = false;
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1), tasks(1), tasks(2)});
  EXPECT_THAT(said(), ::testing::Not(::testing::Contains("promised 1 2 3")));
  system_.run_until_s(1.6);
  EXPECT_THAT(said(), ::testing::Contains("promised 1 2 3"));
  EXPECT_FALSE(book_.memory.handoffs.empty());
  fakes_[1].answers = true;
  system_.run_until_s(4);
  EXPECT_THAT(book_.memory.handoffs, IsEmpty()) << "said again until it was taken";
  system_.end(site);
}

TEST_F(SiteActorTest, GoesOnAfterARestartAndNumbersOn) {
  fakes_[0].answers = fakes_[1].answers = false;
  const SiteActor before = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(before, {tasks(1)});
  system_.end(before);
  heard_.clear();
  fakes_[0].answers = fakes_[1].answers = true;
  const SiteActor after = spawn_site(book_);
  system_.run_until_s(1);
  EXPECT_THAT(said(), ElementsAre(::testing::EndsWith("takes job 1: 0")));
  submit(after, {tasks(1)});
  EXPECT_THAT(said(), ::testing::Contains("promised 2"));
  system_.end(after);
}

TEST_F(SiteActorTest, NumbersJobsApartFromOtherSitesAfterARestartToo) {
  for (const char* promise : {"promised 1000000001", "promised 1000000002"}) {
    const SiteActor site = spawn_site(book_, 1);
    system_.run_until_s(0.1);
    submit(site, {tasks(1)});
    EXPECT_THAT(said(), ::testing::Contains(promise));
    system_.end(site);
  }
}

TEST_F(SiteActorTest, TheSameTokenIsTheSameJob) {
  const SiteActor site = spawn_site(book_);
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
    OpenBook fresh;
    std::swap(book_, fresh);
    const SiteActor site = spawn_site(book_);
    system_.run_until_s(to_seconds(system_.time().now()) + 0.5);
    book_.slow = true;
    submit(site, {with_token("ann", "once")});
    submit(site, {with_token("ann", "once"), with_token("ann", "twice")});
    EXPECT_THAT(said(), IsEmpty()) << "nothing is durable yet";
    ASSERT_EQ(book_.waiting.size(), 2u);
    end_write(site, trouble);
    end_write(site, "");
    const auto answers = said();
    if (trouble.empty()) {
      EXPECT_THAT(answers, ::testing::IsSupersetOf({"promised 1", "promised 1 2"}));
    } else {
      EXPECT_THAT(answers, UnorderedElementsAre("refused", "refused",
                                                ::testing::EndsWith("takes job 2: 0")));
    }
    book_.slow = false;
    submit(site, {with_token("ann", "once")});
    EXPECT_THAT(said(), ::testing::Contains(trouble.empty() ? "promised 1" : "promised 3"));
    system_.end(site);
  }
}

TEST_F(SiteActorTest, AJobThatIsForwardedAgainSharesTheFateOfTheFirstWrite) {
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  book_.slow = true;
  Job job = tasks(1);
  job.id = job_id_of(1, 7);
  forward(site, {job});
  forward(site, {job});
  EXPECT_THAT(said(), IsEmpty()) << "nothing is durable yet";
  ASSERT_EQ(book_.waiting.size(), 1u);
  end_write(site, "the disk is full");
  EXPECT_THAT(said(), ElementsAre("refused", "refused"));
  book_.slow = false;
  forward(site, {job});
  EXPECT_THAT(said(), ::testing::Contains("promised 1000000007"));
  system_.end(site);
}

TEST_F(SiteActorTest, TheSameTokenOfTwoUsersIsTwoJobsAfterARestartToo) {
  for (int life = 0; life < 2; ++life) {
    const SiteActor site = spawn_site(book_);
    system_.run_until_s(to_seconds(system_.time().now()) + 0.5);
    submit(site, {with_token("ann", "1")});
    EXPECT_THAT(said(), ::testing::Contains("promised 1"));
    submit(site, {with_token("bob", "1")});
    EXPECT_THAT(said(), ::testing::Contains("promised 2"));
    system_.end(site);
  }
}

TEST_F(SiteActorTest, AUsersTokenDoesNotHideAForwardedJob) {
  const SiteActor site = spawn_site(book_);
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
  book_.memory.handoffs.push_back({job, {false, 0}});
  book_.memory.tokens = {{"1", JobId{1}}, {"2", JobId{2}}};
  book_.memory.next_job = 3;
  const SiteActor site = spawn_site(book_);
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
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  std::vector<Job> jobs(300, with_token("ann", ""));
  for (std::size_t i = 0; i < jobs.size(); i += 2) jobs[i].user = "bob";
  jobs.push_back(tasks(2));  // with a part for each master
  submit(site, jobs);
  EXPECT_THAT(ids_shown(site, {"jobs", 0, {}, 3}), ElementsAre(301, 301, 300, 299));
  EXPECT_THAT(ids_shown(site, {"jobs", 0, R"({"user": "bob"})", 2}), ElementsAre(299, 297));
  EXPECT_THAT(ids_shown(site, {"jobs", 0, R"({"state": "over"})", 2}), IsEmpty());
  EXPECT_EQ(ids_shown(site, {"jobs", 0, {}, 0}).size(), 101u) << "without a limit 100 jobs";
  EXPECT_THAT(ids_shown(site, {"job", 7, {}, 0}), ElementsAre(7));
  system_.end(site);
}

TEST_F(SiteActorTest, RefusesWhatItCannotWriteDown) {
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  book_.trouble = "the disk is full";
  submit(site, {tasks(1)});
  EXPECT_THAT(said(), ElementsAre("refused"));
  system_.end(site);
}

TEST_F(SiteActorTest, LeavesAJobToTheSiteThatIsNearestToItsUserAndThatTakesItOnce) {
  const SiteActor london = spawn_site(other_book_, 1);
  const SiteActor tokyo = spawn_site(book_, 0, london);
  system_.run_until_s(0.5);
  Job job = tasks(1);
  job.origin = GeoPoint{48.9, 2.4};  // Paris
  submit(tokyo, {job});
  EXPECT_THAT(said(), ElementsAre(::testing::EndsWith("takes job 1: 0"), "promised 1"));
  EXPECT_THAT(book_.memory.handoffs, IsEmpty());
  ASSERT_EQ(other_book_.memory.tokens.size(), 1u);
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
  book_.memory.next_job = 6;
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  fakes_[1].report.broken = {JobId{5}};
  system_.run_until_s(3.5);
  EXPECT_THAT(said(), UnorderedElementsAre("m0 cancels 5", "m1 cancels 5"));
  system_.end(site);
}

}  // namespace
}  // namespace muster
