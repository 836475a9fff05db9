#include "tools/serve/node/resubmission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/job_request.hpp"

namespace muster {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

/// A part of a job of five tasks with the indices 10 to 14, as its master answers for it.
json part(std::vector<std::pair<std::uint32_t, const char*>> tasks, bool over, bool gang = false) {
  JobRequest request;
  request.command = {"sh", "-c", "exit 3"};
  request.env = {{"SECRET", "x"}};
  request.user = "ann";
  request.cpus = 2;
  json out{{"request", to_json(request)},
           {"whole_tasks", 5},
           {"max_running", 2},
           {"gang", gang},
           {"over", over},
           {"tasks", json::array()}};
  for (const auto& [position, end] : tasks) {
    out["tasks"].push_back({position, 10 + position, end});
  }
  return out;
}

std::vector<std::uint32_t> indices(const Job& job) {
  std::vector<std::uint32_t> all;
  for (const TaskSpec& task : job.tasks) all.push_back(task.array_index);
  return all;
}

const json kOdd = part({{1, "failed"}, {3, "finished"}}, true);
const json kEven = part({{0, "finished"}, {2, "neither"}, {4, "failed"}}, true);

TEST(Resubmission, PutsTheWholeJobTogetherAgain) {
  const auto job = submitted_again({{{"missing", true}}, kOdd, kEven}, false);
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
  json even = kEven;
  even["over"] = false;
  const auto job = submitted_again({kOdd, even}, true);
  ASSERT_TRUE(job);
  EXPECT_THAT(indices(job.value()), ElementsAre(11, 14));
}

TEST(Resubmission, OfAGangTakesAll) {
  const json gang = part(
      {{0, "finished"}, {1, "failed"}, {2, "neither"}, {3, "neither"}, {4, "neither"}}, true, true);
  const auto job = submitted_again({gang}, true);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->tasks.size(), 5U);
  EXPECT_TRUE(job->gang);
}

TEST(Resubmission, SaysWhyThereIsNone) {
  EXPECT_EQ(submitted_again({{{"missing", true}}}, false).error().code, ResubmitError::unknown);
  EXPECT_EQ(submitted_again({kOdd}, false).error().code, ResubmitError::partial);
  const json good = part({{0, "finished"}, {2, "finished"}, {4, "finished"}}, true);
  const json others = part({{1, "finished"}, {3, "finished"}}, true);
  EXPECT_EQ(submitted_again({good, others}, true).error().code, ResubmitError::nothing);
  EXPECT_TRUE(submitted_again({good, others}, false));
}

}  // namespace
}  // namespace muster
