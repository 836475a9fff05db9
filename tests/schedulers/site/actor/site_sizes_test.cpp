// What a site hands over, and what it shows, goes into messages that any link carries.

#include <regex>

#include "actors/messages/byte_cut.hpp"
#include "tests/schedulers/site/actor/site_actor_fixture.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::MasterOfSite;
using test::SiteActorTest;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SiteSizesTest : public SiteActorTest {
 protected:
  SiteActor spawn_single() {
    settings_.masters_per_job = 1;
    fakes_[1].report.active_jobs = 1'000'000;  // the first master gets all
    const SiteActor site = spawn_site(site_store_);
    system_.run_until_s(0.5);
    return site;
  }
  static Job long_job(std::size_t bytes) {
    Job job = tasks(1);
    job.program.argv = {std::string(bytes, 'a')};
    return job;
  }
};

TEST_F(SiteSizesTest, HandsOverNoMoreAtOnceThanALinkCarries) {
  const SiteActor site = spawn_single();
  fakes_[0].answers = false;
  submit(site, std::vector<Job>(66, long_job(119'000)));
  fakes_[0].answers = true;
  run_for_s(60);
  EXPECT_THAT(site_store_.memory.handoffs, IsEmpty());
  EXPECT_LE(fakes_[0].largest, kListBytes + 16);
  EXPECT_GT(fakes_[0].batches.size(), 1U);
  system_.end(site);
}

TEST_F(SiteSizesTest, HandsOverNoMoreTasksAtOnceThanAJobMayHave) {
  const SiteActor site = spawn_single();
  fakes_[0].answers = false;
  submit(site, std::vector<Job>(2, tasks(60'000)));
  fakes_[0].answers = true;
  run_for_s(30);
  EXPECT_THAT(site_store_.memory.handoffs, IsEmpty());
  EXPECT_EQ(std::set(fakes_[0].batches.begin(), fakes_[0].batches.end()), std::set<std::size_t>{1});
  system_.end(site);
}

TEST_F(SiteSizesTest, AStoreThatHoldsMoreThanALinkCarriesGoesOn) {
  for (std::uint64_t id = 1; id <= 80; ++id) {
    Job job = id % 40 == 0 ? tasks(1'000) : long_job(119'000);
    number_job(job, JobId{id});
    site_store_.memory.handoffs.push_back({std::move(job), {false, 0}});
  }
  site_store_.memory.next_job = 81;
  const SiteActor site = spawn_single();
  run_for_s(60);
  EXPECT_THAT(site_store_.memory.handoffs, IsEmpty());
  EXPECT_LE(fakes_[0].largest, kListBytes + 16);
  submit(site, {tasks(1)});
  EXPECT_THAT(site_store_.memory.handoffs, IsEmpty()) << "nor does a later job wait";
  system_.end(site);
}

TEST_F(SiteSizesTest, WhatFailsIsHalvedAndTheJobThatFailsByItselfKeepsNobodyWaiting) {
  std::vector<std::string> notes;
  SiteDependencies parts = parts_of(site_store_, 0, other_);
  parts.note = [&](const std::string& text) { notes.push_back(text); };
  settings_.masters_per_job = 1;
  fakes_[1].report.active_jobs = 1'000'000;
  const SiteActor site = system_.actors().spawn<SiteScheduler>(settings_, std::move(parts));
  system_.run_until_s(0.5);
  fakes_[0].chokes_on = JobId{3};
  submit(site, std::vector<Job>(8, tasks(1)));
  run_for_s(60);
  EXPECT_EQ(site_store_.memory.handoffs.size(), 1U) << "all the others have arrived";
  const std::vector<std::size_t>& batches = fakes_[0].batches;
  ASSERT_GE(batches.size(), 3U);
  EXPECT_EQ(std::vector(batches.begin(), batches.begin() + 3), (std::vector<std::size_t>{8, 4, 2}));
  EXPECT_THAT(notes, Contains(HasSubstr("job 3, of ")));
  const std::vector<JobView> shown = parts_shown(site, 3);
  ASSERT_EQ(shown.size(), 1U);
  const std::string why = shown[0].reason.value_or("");
  EXPECT_THAT(std::regex_replace(why, std::regex("[0-9]+ bytes"), "{bytes}"),
              AllOf(HasSubstr("m0"), IsGolden()));
  submit(site, {tasks(1)});
  run_for_s(10);
  EXPECT_EQ(site_store_.memory.handoffs.size(), 1U) << "nor does a later one wait for it";
  fakes_[0].chokes_on.reset();
  run_for_s(10);
  EXPECT_THAT(site_store_.memory.handoffs, IsEmpty());
  system_.end(site);
}

TEST_F(SiteSizesTest, AJobThatNoMessageCarriesIsRefusedAndNothingOfItsSubmissionIsTaken) {
  const SiteActor site = spawn_single();
  submit(site, {tasks(1), long_job(kElementBytes)});
  EXPECT_THAT(said(), Contains(HasSubstr("refused: /jobs/1: the job takes ")));
  EXPECT_THAT(site_store_.memory.handoffs, IsEmpty());
  system_.end(site);
}

TEST_F(SiteSizesTest, ShowsItsJobsInAsManyAnswersAsTheyNeed) {
  const SiteActor site = spawn_single();
  fakes_[0].answers = false;
  submit(site, std::vector<Job>(9, long_job(119'000)));
  JobsQuestion wanted;
  std::vector<std::uint64_t> all;
  for (int answers = 0; answers < 9; ++answers) {
    const JobsView piece = ask<JobsView>(site, wanted);
    EXPECT_LT(encoded_bytes(piece), kLeastMessageBytes);
    for (const JobView& job : piece.jobs) all.push_back(job.job.value);
    if (!piece.cut) break;
    wanted.active_below = piece.jobs.back().place;
  }
  EXPECT_EQ(all, (std::vector<std::uint64_t>{9, 8, 7, 6, 5, 4, 3, 2, 1}));
  std::vector<JobId> some;
  for (std::uint64_t id = 1; id <= 9; ++id) some.push_back(JobId{id});
  const JobsView cut = ask<JobsView>(site, JobsQuestion::parts_of(some));
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(cut.jobs.size() + cut.rest.size(), 9U);
  system_.end(site);
}

TEST_F(SiteSizesTest, SaysWhichOfTheCompletedJobsItHasHeardOf) {
  fakes_[0].report.run = 5;
  fakes_[0].report.completed_to = 17;
  const SiteActor site = spawn_site(site_store_);
  run_for_s(3);
  EXPECT_EQ(fakes_[0].load_questions.front().completed, 0U);
  EXPECT_EQ(fakes_[0].load_questions.back().run, 5U);
  EXPECT_EQ(fakes_[0].load_questions.back().completed, 17U);
  system_.end(site);
}

TEST_F(SiteSizesTest, CountsFailedTasksThatComeInSeveralReports) {
  site_store_.memory.next_job = 10;  // it has given both numbers
  fakes_[0].report.active_jobs = 1;  // so that it is asked on
  fakes_[0].report.counting = 2;
  fakes_[0].report.failed = {{JobId{1}, 1, 1}};
  fakes_[0].report.more_failed = true;
  const SiteActor site = spawn_site(site_store_);
  run_for_s(1.5);
  EXPECT_EQ(fakes_[0].load_questions.back().failed_after, JobId{1});
  fakes_[0].report.failed = {{JobId{2}, 2, 1}};
  fakes_[0].report.more_failed = false;
  run_for_s(2);
  EXPECT_THAT(said(), Contains("m0 cancels 2"));
  EXPECT_FALSE(fakes_[0].load_questions.back().failed_after.valid()) << "it begins again";
  system_.end(site);
}

}  // namespace
}  // namespace muster
