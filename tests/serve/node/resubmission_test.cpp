#include "serve/node/resubmission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/job_request.hpp"

namespace muster {
namespace {

using Kind = TaskEnd::Kind;
using ::testing::ElementsAre;

/// A part of a job of five tasks with the indices 10 to 14, as its master answers for it.
RequestView part(const std::vector<std::pair<std::uint32_t, Kind>>& tasks, bool over,
                 bool gang = false) {
  JobRequest request;
  request.command = {"sh", "-c", "exit 3"};
  request.env = {{"SECRET", "x"}};
  request.user = "ann";
  request.cpus = 2;
  RequestView view;
  view.known = true;
  view.job = make_job(request);
  view.job.max_running = 2;
  view.job.gang = gang;
  view.whole = 5;
  view.over = over;
  for (const auto& [position, kind] : tasks) view.tasks.push_back({position, 10 + position, kind});
  return view;
}

std::vector<std::uint32_t> indices(const Job& job) {
  std::vector<std::uint32_t> all;
  for (const TaskSpec& task : job.tasks) all.push_back(task.array_index);
  return all;
}

const RequestView kOdd = part({{1, Kind::failed}, {3, Kind::finished}}, true);
const RequestView kEven = part({{0, Kind::finished}, {2, Kind::neither}, {4, Kind::failed}}, true);

TEST(Resubmission, PutsTheWholeJobTogetherAgain) {
  const auto job = submitted_again({{}, kOdd, kEven}, false);
  ASSERT_TRUE(job);
  EXPECT_THAT(indices(job.value()), ElementsAre(10, 11, 12, 13, 14));
  EXPECT_EQ(job->max_running, 4U);
  EXPECT_EQ(job->user, "ann");
  EXPECT_EQ(job->program.argv.back(), "exit 3");
  EXPECT_EQ(job->program.env.size(), 1U);
  EXPECT_EQ(job->tasks[3].demands, Demands(Resources::of(0, 2, 1)));
  EXPECT_TRUE(job->token.empty());
}

TEST(Resubmission, TakesOnlyWhatDidNotFinish) {
  const auto job = submitted_again({kOdd, kEven}, true);
  ASSERT_TRUE(job);
  EXPECT_THAT(indices(job.value()), ElementsAre(11, 12, 14));
}

TEST(Resubmission, OfAJobThatGoesOnTakesOnlyWhatHasFailed) {
  RequestView even = kEven;
  even.over = false;
  const auto job = submitted_again({kOdd, even}, true);
  ASSERT_TRUE(job);
  EXPECT_THAT(indices(job.value()), ElementsAre(11, 14));
}

TEST(Resubmission, OfAGangTakesAll) {
  const RequestView gang = part({{0, Kind::finished},
                                 {1, Kind::failed},
                                 {2, Kind::neither},
                                 {3, Kind::neither},
                                 {4, Kind::neither}},
                                true, true);
  const auto job = submitted_again({gang}, true);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->tasks.size(), 5U);
  EXPECT_TRUE(job->gang);
}

TEST(Resubmission, SaysWhyThereIsNone) {
  EXPECT_EQ(submitted_again({RequestView{}}, false).error().code, ResubmitError::unknown);
  EXPECT_EQ(submitted_again({kOdd}, false).error().code, ResubmitError::partial);
  const RequestView good =
      part({{0, Kind::finished}, {2, Kind::finished}, {4, Kind::finished}}, true);
  const RequestView others = part({{1, Kind::finished}, {3, Kind::finished}}, true);
  EXPECT_EQ(submitted_again({good, others}, true).error().code, ResubmitError::nothing);
  EXPECT_TRUE(submitted_again({good, others}, false));
}

}  // namespace
}  // namespace muster
