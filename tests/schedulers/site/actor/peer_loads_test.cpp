#include "schedulers/site/actor/peer_loads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/site/site_parts.hpp"

namespace muster::test {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct PeerLoadsTest : ::testing::Test {
  SitePeers peers = two_and_two();
  SiteSettings settings;
  PeerLoads loads{peers, settings, 1};

  static LoadReport with(std::uint64_t active_jobs, double load = 0) {
    LoadReport report;
    report.active_jobs = active_jobs;
    report.load = load;
    return report;
  }
  /// Who of the masters is given a job.
  std::uint32_t given() { return loads.parts_of(job_of(1), at_s(1)).front().to.index; }
};

TEST_F(PeerLoadsTest, GivesABurstToAllMastersInTurnUntilTheyReport) {
  loads.take(master_at(0), with(0), at_s(0));
  loads.take(master_at(1), with(2), at_s(0));
  EXPECT_EQ(given(), 0u);
  EXPECT_EQ(given(), 0u);
  EXPECT_EQ(given(), 0u) << "ties by place";
  EXPECT_EQ(given(), 1u) << "what it was given counts";
  EXPECT_EQ(given(), 0u);
  loads.take(master_at(0), with(0), at_s(0));
  EXPECT_EQ(given(), 0u) << "the report counts what was given";
}

TEST_F(PeerLoadsTest, GivesNothingToAMasterThatIsSilentWhileAnotherAnswers) {
  loads.take(master_at(1), with(50), at_s(0));
  EXPECT_EQ(given(), 1u);
}

TEST_F(PeerLoadsTest, SplitsAJobAmongSeveralMasters) {
  settings.masters_per_job = 2;
  const auto parts = loads.parts_of(job_of(1, 5), at_s(0));
  ASSERT_EQ(parts.size(), 1u) << "nobody was heard of";
  loads.take(master_at(0), with(0), at_s(0));
  loads.take(master_at(1), with(0), at_s(0));
  const auto two = loads.parts_of(job_of(1, 5), at_s(0));
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].job.tasks.size() + two[1].job.tasks.size(), 5u);
  EXPECT_NE(two[0].to, two[1].to);
}

TEST_F(PeerLoadsTest, LeavesAJobToTheNearestSiteThatIsNotHeavilyLoaded) {
  Job job = job_of(1);
  job.origin = GeoPoint{48.9, 2.4};  // Paris
  EXPECT_EQ(loads.choose_site(job, 0, at_s(0)), site_at(0)) << "nothing was heard of london";
  loads.take(site_at(1), with(0, 0.5), at_s(0));
  EXPECT_EQ(loads.choose_site(job, 0, at_s(0)), site_at(1));
  loads.take(site_at(1), with(0, 0.9), at_s(0));
  EXPECT_EQ(loads.choose_site(job, 0, at_s(0)), site_at(0));
}

TEST_F(PeerLoadsTest, TellsNewsFromARepetition) {
  EXPECT_TRUE(loads.take(master_at(0), with(1), at_s(0)));
  EXPECT_FALSE(loads.take(master_at(0), with(1), at_s(1)));
  LoadReport report = with(1);
  report.completed.push_back({JobId{1}, 1, seconds{1}});
  EXPECT_TRUE(loads.take(master_at(0), report, at_s(2)));
}

TEST_F(PeerLoadsTest, AsksForWhatTheLastReportHasNotSaid) {
  LoadReport report = with(1);
  report.run = 7;
  report.completed_to = 3;
  report.failed = {{JobId{4}, 1, 9}};
  report.more_failed = true;
  loads.take(master_at(0), report, at_s(0));
  EXPECT_EQ(loads.question_to(master_at(0)).run, 7u);
  EXPECT_EQ(loads.question_to(master_at(0)).completed, 3u);
  EXPECT_EQ(loads.question_to(master_at(0)).failed_after, JobId{4});
  EXPECT_FALSE(loads.question_to(master_at(1)).failed_after.valid());
}

TEST_F(PeerLoadsTest, CountsFailedTasksOverAllMasters) {
  LoadReport first, second;
  first.failed = {{JobId{1}, 2, 3}, {JobId{2}, 1, 3}};
  second.failed = {{JobId{1}, 2, 3}};
  loads.take(master_at(0), first, at_s(0));
  EXPECT_THAT(loads.with_too_many_failed(first), IsEmpty());
  loads.take(master_at(1), second, at_s(0));
  EXPECT_THAT(loads.with_too_many_failed(second), ElementsAre(JobId{1}));
  loads.take(master_at(0), {}, at_s(1));
  EXPECT_THAT(loads.with_too_many_failed(second), IsEmpty()) << "of which nothing is said any more";
}

TEST_F(PeerLoadsTest, PutsFailedPartsTogetherOfSeveralReports) {
  LoadReport first;
  first.failed = {{JobId{1}, 5, 3}};
  first.more_failed = true;
  loads.take(master_at(0), first, at_s(0));
  LoadReport rest;
  rest.failed = {{JobId{8}, 1, 3}};
  loads.take(master_at(0), rest, at_s(1));
  LoadReport other;
  other.failed = {{JobId{1}, 0, 3}};
  EXPECT_THAT(loads.with_too_many_failed(other), ElementsAre(JobId{1}))
      << "the rest says nothing of job 1";
}

TEST_F(PeerLoadsTest, TakesASiteToBeSilentAfterAWhile) {
  EXPECT_FALSE(loads.is_silent(site_at(1), at_s(0), at_s(9)));
  EXPECT_TRUE(loads.is_silent(site_at(1), at_s(0), at_s(10)));
  loads.take(site_at(1), {}, at_s(9));
  EXPECT_FALSE(loads.is_silent(site_at(1), at_s(0), at_s(18)));
  EXPECT_TRUE(loads.is_silent(site_at(1), at_s(0), at_s(19)));
}

}  // namespace
}  // namespace muster::test
