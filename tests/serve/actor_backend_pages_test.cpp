#include "tests/serve/actor_backend_fixture.hpp"

namespace muster::test {
namespace {

TEST_F(ActorBackendTest, AListGoesOverAllMastersPageByPage) {
  fakes_[0].jobs = {part(1, false), part(4, false), part(9, true), part(2, true)};
  fakes_[1].jobs = {part(3, false), part(8, true), part(1'000'000'001, true)};
  using enum api::JobState;
  EXPECT_EQ(page(all, 9), "4 3 1 -1000000001 -9 -8 -2 end");
  EXPECT_EQ(page(all, 2), "4 3 active:3");
  EXPECT_EQ(page(all, 2, "active:3"), "1 -1000000001 over:1000000001");
  EXPECT_EQ(page(all, 2, "over:1000000001"), "-9 -8 over:8");
  EXPECT_EQ(page(all, 2, "over:8"), "-2 end");
  EXPECT_EQ(page(active, 3), "4 3 1 end");
  EXPECT_EQ(page(active, 2, "active:4"), "3 1 end");
  EXPECT_EQ(page(over, 1), "-1000000001 over:1000000001");
  EXPECT_EQ(page(over, 9, "over:9"), "-8 -2 end");
}

TEST_F(ActorBackendTest, AJobOfWhichAPartRunsOnIsListedOnceAndNotAsOver) {
  fakes_[0].jobs = {part(7, true, 3, 5), part(9, true), part(2, true)};
  fakes_[1].jobs = {part(7, false, 2, 5), part(20, false), part(21, false)};
  using enum api::JobState;
  EXPECT_EQ(page(all, 9), "21 20 7 -9 -2 end");
  EXPECT_EQ(page(all, 3), "21 20 7 active:7");
  EXPECT_EQ(page(all, 2, "active:7"), "-9 over:7") << "it looks over to one of them only";
  EXPECT_EQ(page(all, 2, "over:7"), "-2 end");
  EXPECT_EQ(page(over, 9), "-9 -2 end");
  const nlohmann::json jobs =
      look({.kind = api::View::Kind::jobs, .state = active, .limit = 9})["jobs"];
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[2]["finished"], 3) << "its part that is over is asked for";
  EXPECT_EQ(jobs[2]["running"], 2);
}

TEST_F(ActorBackendTest, OfAJobWithAPartAtASilentMasterIsNotSaidThatItIsOver) {
  fakes_[0].jobs = {part(7, true, 3, 5), part(9, true)};
  fakes_[2].answers = false;
  using enum api::JobState;
  EXPECT_EQ(page(over, 9), "-9 end");
  const nlohmann::json all_jobs = look({.kind = api::View::Kind::jobs, .state = all, .limit = 9});
  ASSERT_EQ(all_jobs["jobs"].size(), 2U);
  EXPECT_EQ(all_jobs["jobs"][1]["state"], "unknown");
  EXPECT_EQ(all_jobs["complete"], false);
}

TEST_F(ActorBackendTest, ALongPageIsAskedForInPiecesOfThoseThatAnswer) {
  for (std::uint64_t job = 1; job <= 700; ++job) {
    fakes_[job % 2].jobs.push_back(part(job, job % 5 == 0));
  }
  fakes_[2].answers = false;
  const nlohmann::json jobs =
      look({.kind = api::View::Kind::jobs, .state = api::JobState::all, .limit = 650});
  ASSERT_EQ(jobs["jobs"].size(), 650U);
  EXPECT_EQ(jobs["next"], "over:255");
  EXPECT_EQ(jobs["complete"], false);
  EXPECT_EQ(fakes_[0].asked, 3);
  EXPECT_EQ(fakes_[2].asked, 1) << "a silent one is waited for once";
}

TEST_F(ActorBackendTest, APageOfTasksIsPutTogetherOfWhatMastersTellAtOnce) {
  for (std::size_t i = 0; i < 2; ++i) {
    fakes_[i].jobs = {part(7, false, 15, 30)};
    for (std::uint32_t task = 0; task < 15; ++task) {
      fakes_[i].tasks.emplace_back();
      fakes_[i].tasks.back().index = i == 0 ? task : 15 + task;
    }
  }
  const auto tasks = [&](std::uint32_t limit, std::optional<std::uint32_t> after) {
    api::View what{.kind = api::View::Kind::job, .job = JobId{7}, .limit = limit};
    what.after_task = after;
    const nlohmann::json job = look(what);
    EXPECT_EQ(job["tasks_total"], 30);
    EXPECT_EQ(job["complete"], true);
    std::string text;
    for (const nlohmann::json& task : job["tasks"]) text += task["task"].dump() + " ";
    return text + job["next"].dump() + " " + job["tasks_behind"].dump();
  };
  EXPECT_EQ(tasks(3, std::nullopt), "0 1 2 2 27");
  EXPECT_EQ(tasks(6, 11), "12 13 14 15 16 17 17 12");
  EXPECT_EQ(tasks(9, 26), "27 28 29 null 0");
  EXPECT_TRUE(tasks(100, std::nullopt).ends_with("28 29 null 0"));
}

}  // namespace
}  // namespace muster::test
