#include "tests/schedulers/site/actor/site_actor_fixture.hpp"

// Jobs that wait at a site for others.

namespace muster {
namespace {

using test::SiteActorTest;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class SiteAfterTest : public SiteActorTest {
 protected:
  SiteAfterTest() { settings_.masters_per_job = 1; }

  static Job after(std::vector<AfterJob> jobs) {
    Job job = tasks(1);
    job.after = std::move(jobs);
    return job;
  }
  static JobEnd end_of(std::uint64_t job, JobOutcome outcome = JobOutcome::completed) {
    return {JobId{job}, outcome, 0, 1, 1, outcome != JobOutcome::completed};
  }
  void tell(const JobEnd& end) {
    for (const test::MasterOfSite& fake : fakes_) {
      if (!fake.listener) continue;
      caf::anon_send(fake.listener, over_atom_v, end);
      break;
    }
    run_for_s(1);
  }
  /// The masters that have taken the job.
  std::vector<std::string> takes_of(std::uint64_t job) {
    std::vector<std::string> found;
    for (const std::string& line : said()) {
      if (line.find("takes job " + std::to_string(job) + ":") != std::string::npos) {
        found.push_back(line);
      }
    }
    return found;
  }
};

TEST_F(SiteAfterTest, AJobIsHandedOverWhenTheOneBeforeIsOver) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1), after({{{}, AfterEnd::ok, 1}})});
  run_for_s(1);
  EXPECT_THAT(takes_of(2), IsEmpty());
  const auto parts = parts_shown(site, 2);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].state, ShownState::waiting);
  ASSERT_TRUE(parts[0].reason);
  EXPECT_THAT(*parts[0].reason, HasSubstr("job 1"));
  tell(end_of(1));
  EXPECT_EQ(takes_of(2).size(), 1U);
  EXPECT_THAT(parts_shown(site, 2), IsEmpty());
  system_.end(site);
}

TEST_F(SiteAfterTest, ThroughARestartTheWaitGoesOn) {
  {
    const SiteActor site = spawn_site(site_store_);
    system_.run_until_s(0.5);
    submit(site, {tasks(1), after({{{}, AfterEnd::ok, 1}})});
    run_for_s(1);
    system_.end(site);
  }
  for (test::MasterOfSite& fake : fakes_) fake.listener = nullptr;
  said();
  fakes_[0].over = {end_of(1)};
  const SiteActor again = spawn_site(site_store_);
  run_for_s(3);
  EXPECT_EQ(takes_of(2).size(), 1U) << "it ended while the site was away";
  system_.end(again);
}

TEST_F(SiteAfterTest, WhatCannotBeginAnyMoreIsSkippedWithAllThatWaitForIt) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1), after({{{}, AfterEnd::ok, 1}}), after({{{}, AfterEnd::ok, 2}}),
                after({{{}, AfterEnd::any, 3}})});
  run_for_s(1);
  tell(end_of(1, JobOutcome::failed));
  run_for_s(2);
  EXPECT_EQ(parts_shown(site, 2).at(0).state, ShownState::skipped);
  EXPECT_EQ(parts_shown(site, 3).at(0).state, ShownState::skipped);
  EXPECT_EQ(takes_of(4).size(), 1U) << "it goes by any end";
  EXPECT_EQ(site_store_.memory.ended.size(), 2U);
  system_.end(site);
}

TEST_F(SiteAfterTest, AWaitingJobIsCancelledHere) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1), after({{{}, AfterEnd::ok, 1}})});
  run_for_s(1);
  cancel(site, 2);
  run_for_s(3);
  EXPECT_EQ(parts_shown(site, 2).at(0).state, ShownState::cancelled);
  tell(end_of(1));
  EXPECT_THAT(takes_of(2), IsEmpty());
  system_.end(site);
}

TEST_F(SiteAfterTest, TheEndOfAJobOfAnotherSiteIsHeardFromThere) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  const JobId theirs = job_id_of(1, 7);
  submit(site, {after({{theirs, AfterEnd::any}})});
  run_for_s(1);
  EXPECT_THAT(takes_of(1), IsEmpty());
  JobEnd end = end_of(7, JobOutcome::cancelled);
  end.job = theirs;
  over_there_ = {end};
  run_for_s(20);
  EXPECT_EQ(takes_of(1).size(), 1U) << "it is asked again";
  system_.end(site);
}

TEST_F(SiteAfterTest, AnEndOfTheWholeCountsThoughAPartWithItsFirstTaskWasHeardBefore) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  const JobId theirs = job_id_of(1, 7);
  submit(site, {after({{theirs, AfterEnd::any}})});
  run_for_s(1);
  tell({theirs, JobOutcome::completed, 0, 5, 10});
  EXPECT_THAT(takes_of(1), IsEmpty());
  over_there_ = {{theirs, JobOutcome::cancelled, 0, 10, 10}};
  run_for_s(20);
  EXPECT_EQ(takes_of(1).size(), 1U);
  system_.end(site);
}

TEST_F(SiteAfterTest, AJobIsHandedOverAtItsTime) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  Job job = tasks(1);
  job.begin = test::at_s(30);
  submit(site, {job});
  run_for_s(28);
  EXPECT_THAT(takes_of(1), IsEmpty());
  EXPECT_THAT(*parts_shown(site, 1).at(0).reason, HasSubstr("00:00:30"));
  run_for_s(3);
  EXPECT_EQ(takes_of(1).size(), 1U);
  system_.end(site);
}

TEST_F(SiteAfterTest, AJobThatWaitsExpiresAtItsDeadline) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  Job job = after({{JobId{99}}});
  job.deadline = test::at_s(30);
  submit(site, {job, after({{{}, AfterEnd::fail, 1}})});
  run_for_s(32);
  EXPECT_EQ(parts_shown(site, 1).at(0).state, ShownState::expired);
  EXPECT_EQ(takes_of(2).size(), 1U) << "that one was to begin if it fails";
  system_.end(site);
}

TEST_F(SiteAfterTest, AJobIsHeldFromItsSubmissionOnUntilItIsReleased) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  Job job = tasks(1);
  job.held = true;
  submit(site, {job});
  run_for_s(5);
  EXPECT_EQ(parts_shown(site, 1).at(0).state, ShownState::held);
  caf::anon_send(site, hold_atom_v, JobId{1}, false);
  run_for_s(2);
  EXPECT_EQ(takes_of(1).size(), 1U);
  system_.end(site);
}

TEST_F(SiteAfterTest, ARecurringJobRunsOnceAtEachOfItsTimesThroughRestarts) {
  Job job = tasks(1);
  job.every = "* * * * *";
  job.overlaps = true;
  std::vector<std::string> taken;
  for (int life = 0; life < 3; ++life) {
    const SiteActor site = spawn_site(site_store_);
    run_for_s(1);
    if (life == 0) submit(site, {job});
    run_for_s(89);
    for (const std::string& line : said()) {
      const std::size_t job = line.find("takes job ");
      if (job != std::string::npos) taken.push_back(line.substr(job, line.find(':', job) - job));
    }
    EXPECT_EQ(parts_shown(site, 1).at(0).state, ShownState::waiting);
    system_.end(site);
  }
  // At 60, 120, 180 and 240 s.
  EXPECT_THAT(taken, ElementsAre("takes job 2", "takes job 3", "takes job 4", "takes job 5"));
}

TEST_F(SiteAfterTest, TasksThatWaitForTheirCounterpartsDoSoAtAMaster) {
  fakes_[1].report.active_jobs = 1;
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(3), after({{{}, AfterEnd::ok, 1, false, true}})});
  run_for_s(1);
  EXPECT_EQ(takes_of(2).size(), 1U);
  fakes_[1].report.awaits = true;
  fakes_[1].counterparts.awaiting = {{JobId{2}, "ann", {{JobId{1}, AfterEnd::ok}}}};
  TasksOver part{JobId{1}};
  part.known = true;
  part.completed = {{0, 1}};
  fakes_[0].counterparts.over = {part};
  run_for_s(20);
  const auto is_told = [](const CounterpartQuestion& asked) { return !asked.told.empty(); };
  const auto& questions = fakes_[1].counterpart_questions;
  const auto told = std::find_if(questions.begin(), questions.end(), is_told);
  ASSERT_NE(told, questions.end());
  EXPECT_THAT(told->told[0].met, ElementsAre(IndexRange{0, 1}));
  EXPECT_EQ(std::count_if(questions.begin(), questions.end(), is_told), 1);
}

TEST_F(SiteAfterTest, AJobBeginsWhenAnotherHasStarted) {
  const SiteActor site = spawn_site(site_store_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1), after({{{}, AfterEnd::start, 1}})});
  run_for_s(3);
  EXPECT_THAT(takes_of(2), IsEmpty());
  TasksOver part{JobId{1}};
  part.known = part.started = true;
  fakes_[0].counterparts.over = {part};
  run_for_s(3);
  EXPECT_EQ(takes_of(2).size(), 1U);
  run_for_s(10);
  const std::size_t asked = fakes_[0].counterpart_questions.size();
  run_for_s(10);
  EXPECT_EQ(fakes_[0].counterpart_questions.size(), asked) << "nothing waits for a start any more";
}

}  // namespace
}  // namespace muster
