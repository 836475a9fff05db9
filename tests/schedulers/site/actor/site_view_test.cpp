#include "schedulers/site/actor/site_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/site/site_parts.hpp"

namespace muster::test {
namespace {

using ::testing::ElementsAre;

struct SiteViewTest : ::testing::Test {
  SiteParts parts;
  EndedJobs ended{10};
  Handoffs handoffs{
      parts.peers,
      parts.store,
      500,
      {[](const HandoffTarget&, const std::vector<Job>&, const Handoffs::Done&) {},
       [](const HandoffTarget&, const std::vector<JobId>&, const Handoffs::Verdicts&) {},
       parts.retries.taker(), parts.noting()}};
  WaitingRoom waiting{{10, 10}, {}};
  SiteView view{parts.peers, handoffs, ended, waiting};

  void end(std::uint64_t id) {
    EndedHandoff over;
    over.job = job_of(id);
    over.tasks = 1;
    over.reason = "too large";
    ended.add(over);
  }
  std::vector<std::string> shown(const JobsQuestion& wanted) const {
    std::vector<std::string> all;
    for (const JobView& each : view.jobs(wanted).jobs) {
      all.push_back(std::to_string(each.job.value) + " " + (each.to.empty() ? "over" : each.to));
    }
    return all;
  }
};

TEST_F(SiteViewTest, ShowsTheHighestNumbersFirstAndTheEndedBehind) {
  handoffs.push(master_at(0), {job_of(1)});
  handoffs.push(site_at(1), {job_of(3)});
  handoffs.push(master_at(1), {job_of(2)});
  end(9);
  EXPECT_THAT(shown({}), ElementsAre("3 london", "2 m1", "1 m0", "9 over"));
}

TEST_F(SiteViewTest, ShowsJobsByTheTimeOfTheirSubmission) {
  const auto submitted = [](std::uint64_t id, int at_s) {
    Job job = job_of(id);
    job.submitted = Instant{std::chrono::seconds{at_s}};
    return job;
  };
  handoffs.push(master_at(0), {submitted(1, 30)});
  handoffs.push(master_at(1), {submitted(1'000'000'001, 20)});
  handoffs.push(master_at(1), {submitted(2, 40)});
  EXPECT_THAT(shown({}), ElementsAre("2 m1", "1 m0", "1000000001 m1"));
  JobsQuestion since{.filter = {.since = Instant{std::chrono::seconds{30}}}};
  EXPECT_THAT(shown(since), ElementsAre("2 m1", "1 m0"));
}

TEST_F(SiteViewTest, ListsAWaitingPartWhereAMasterMayHaveAFailedTask) {
  Job part = job_of(1);
  part.total_tasks = 2;
  handoffs.push(master_at(0), {std::move(part)});
  handoffs.push(master_at(0), {job_of(2)});
  EXPECT_THAT(shown({.filter = {.failed = true}}), ElementsAre("1 m0"));
}

TEST_F(SiteViewTest, LooksAtABoundedNumberOfJobsAndSaysWhereToGoOn) {
  for (std::uint64_t id = 1; id <= 12'000; ++id) {
    Job job = job_of(id);
    job.name = id == 7 ? "rare" : "plenty";
    handoffs.push(master_at(id % 2), {std::move(job)});
  }
  JobsQuestion wanted{.filter = {.name = "rare"}};
  std::vector<std::uint64_t> found;
  int questions = 0;
  for (bool more = true; more && questions < 20; ++questions) {
    const JobsView list = view.jobs(wanted);
    for (const JobView& each : list.jobs) found.push_back(each.job.value);
    more = list.cut;
    if (more) wanted.begin_behind(list.looked.value());
  }
  EXPECT_THAT(found, ElementsAre(7));
  EXPECT_GT(questions, 1);
  EXPECT_LT(questions, 20);
}

TEST_F(SiteViewTest, KeepsThePartsOfAJobOnOnePage) {
  for (const std::uint64_t id : {1, 2, 3}) {
    handoffs.push(master_at(0), {job_of(id)});
    handoffs.push(master_at(1), {job_of(id)});
  }
  JobsQuestion wanted;
  wanted.most = 2;
  EXPECT_THAT(shown(wanted), ElementsAre("3 m0", "3 m1", "2 m0", "2 m1"));
  wanted.active_below = {Instant{}, JobId{2}};
  EXPECT_THAT(shown(wanted), ElementsAre("1 m0", "1 m1"));
}

TEST_F(SiteViewTest, ShowsAllPartsOfTheJobsThatAreAskedFor) {
  handoffs.push(master_at(0), {job_of(1)});
  handoffs.push(master_at(0), {job_of(2)});
  end(1);
  EXPECT_THAT(shown(JobsQuestion::parts_of({JobId{1}})), ElementsAre("1 m0", "1 over"));
}

TEST_F(SiteViewTest, SaysWhyAJobIsStillOnItsWay) {
  PendingHandoff tried{job_of(1)};
  tried.failures = 2;
  tried.bytes = 700;
  tried.alone = true;
  handoffs.push(master_at(0), tried);
  const JobView shown = view.jobs({}).jobs.at(0);
  EXPECT_THAT(shown.reason.value_or(""), ::testing::HasSubstr(" 2 times"));
  EXPECT_THAT(shown.reason.value_or(""), ::testing::HasSubstr("alone (700 bytes)"));
}

TEST_F(SiteViewTest, NamesWhatDidNotGoIntoTheMessage) {
  std::vector<JobId> wanted;
  for (std::uint64_t id = 1; id <= 3; ++id) {
    Job job = job_of(id);
    job.name.assign(300'000, 'x');
    handoffs.push(master_at(0), {job});
    wanted.push_back(job.id);
  }
  const JobsView page = view.jobs(JobsQuestion::parts_of(wanted));
  EXPECT_TRUE(page.cut);
  ASSERT_EQ(page.jobs.size(), 1u);
  EXPECT_EQ(page.jobs[0].job, JobId{3});
  EXPECT_THAT(page.rest, ElementsAre(JobId{1}, JobId{2}));
}

}  // namespace
}  // namespace muster::test
