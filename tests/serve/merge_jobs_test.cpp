#include "tools/serve/node/merge_jobs.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

using nlohmann::json;

/// A part of job 7, which has five tasks, as a master lists it.
json part(const std::string& master, const std::string& state, std::uint64_t tasks) {
  const bool over = state == "completed" || state == "failed" || state == "cancelled";
  return {{"job", 7},
          {"master", master},
          {"state", state},
          {"tasks_total", tasks},
          {"whole_tasks", 5},
          {"waiting", 0},
          {"held", 0},
          {"starting", 0},
          {"running", over ? 0 : tasks},
          {"finished", state == "completed" ? tasks : 0},
          {"failed", state == "failed" ? 1 : 0},
          {"failed_attempts", 1},
          {"submitted_s", 100.5 + static_cast<double>(tasks)},
          {"over_s", over ? json(200.0 + static_cast<double>(tasks)) : json(nullptr)},
          {"usd", 0.25},
          {"max_fails", nullptr},
          {"exit_code", state == "failed" ? json(3) : json(nullptr)},
          {"failed_task", state == "failed" ? json(1) : json(nullptr)},
          {"failure", state == "failed" ? json("task 1 has failed: exit code 3") : json(nullptr)}};
}

json listed(const std::vector<json>& jobs) {
  return {{"jobs", jobs}};
}

TEST(MergeJobs, PutsTheJobTogetherOfItsParts) {
  const json list = merge::jobs(
      {listed({part("m0", "completed", 3)}), listed({part("m1", "running", 2)})}, 0, false);
  ASSERT_EQ(list.size(), 1u);
  const json& job = list[0];
  EXPECT_EQ(job["tasks_total"], 5);
  EXPECT_EQ(job["finished"], 3);
  EXPECT_EQ(job["running"], 2);
  EXPECT_EQ(job["failed_attempts"], 2);
  EXPECT_EQ(job["usd"], 0.5);
  EXPECT_EQ(job["state"], "running");
  EXPECT_EQ(job["master"], "m0, m1");
  EXPECT_EQ(job["submitted_s"], 102.5);
  EXPECT_TRUE(job["over_s"].is_null());
  EXPECT_FALSE(job.contains("whole_tasks"));
}

TEST(MergeJobs, IsOverWithTheLastOfTheParts) {
  const json list = merge::jobs(
      {listed({part("m0", "completed", 3)}), listed({part("m1", "completed", 2)})}, 0, true);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["over_s"], 203.0);
  EXPECT_EQ(list[0]["state"], "completed");
}

TEST(MergeJobs, HasFailedWhenAPartHas) {
  const json list = merge::jobs(
      {listed({part("m0", "completed", 3)}), listed({part("m1", "failed", 2)})}, 0, true);
  EXPECT_EQ(list[0]["state"], "failed");
  EXPECT_EQ(list[0]["exit_code"], 3);
  EXPECT_EQ(list[0]["reason"], "task 1 has failed: exit code 3");
  EXPECT_FALSE(list[0].contains("failure"));
}

TEST(MergeJobs, HasTheExitCodeOfTheFailedTaskWithTheLowestIndex) {
  json later = part("m0", "failed", 3);
  later["failed_task"] = 4;
  later["exit_code"] = 9;
  later["failure"] = "task 4 has failed: exit code 9";
  const json job = merge::jobs({listed({later}), listed({part("m1", "failed", 2)})}, 0, true)[0];
  EXPECT_EQ(job["exit_code"], 3);
  EXPECT_EQ(job["failed_task"], 1);
  EXPECT_EQ(job["failed"], 2);
  EXPECT_EQ(job["reason"], "task 1 has failed: exit code 3; 2 of 5 tasks have failed");
}

TEST(MergeJobs, HasNoExitCodeWhenNoTaskHasFailedAndNotAllHaveFinished) {
  const json job = merge::jobs(
      {listed({part("m0", "completed", 3)}), listed({part("m1", "cancelled", 2)})}, 0, true)[0];
  EXPECT_EQ(job["state"], "cancelled");
  EXPECT_TRUE(job["exit_code"].is_null());
  const json done = merge::jobs(
      {listed({part("m0", "completed", 3)}), listed({part("m1", "completed", 2)})}, 0, true)[0];
  EXPECT_EQ(done["exit_code"], 0);
}

TEST(MergeJobs, ThatWasCancelledBecauseTooManyTasksFailedHasFailed) {
  json stopped = part("m0", "cancelled", 3);
  stopped["max_fails"] = 1;
  stopped["failed"] = 1;
  stopped["failed_task"] = 2;
  stopped["exit_code"] = 7;
  stopped["failure"] = "task 2 has failed: exit code 7";
  json other = part("m1", "cancelled", 2);
  other["max_fails"] = 1;
  EXPECT_EQ(merge::jobs({listed({stopped}), listed({other})}, 0, true)[0]["state"], "cancelled")
      << "one may fail: a user has cancelled it";
  other["failed"] = 1;
  const json job = merge::jobs({listed({stopped}), listed({other})}, 0, true)[0];
  EXPECT_EQ(job["state"], "failed");
  EXPECT_EQ(job["exit_code"], 7);
  EXPECT_EQ(job["reason"],
            "task 2 has failed: exit code 7; 2 of 5 tasks have failed, and only 1 may");
}

TEST(MergeJobs, SaysForItsPartsHowFarItIsAndWhy) {
  json waits = part("m0", "waiting", 3);
  waits["reason"] = "3 of 5 tasks wait, not now: awaiting round";
  json starts = part("m1", "starting", 2);
  EXPECT_EQ(merge::jobs({listed({waits}), listed({starts})}, 0, false)[0]["state"], "starting");
  const json both = merge::jobs({listed({waits}), listed({part("m1", "waiting", 2)})}, 0, false);
  EXPECT_EQ(both[0]["reason"], waits["reason"]);
}

TEST(MergeJobs, IsNotListedAsOverWhileAPartIsElsewhere) {
  EXPECT_TRUE(merge::jobs({listed({part("m0", "completed", 3)})}, 0, true).empty());
  const json active = merge::jobs({listed({part("m1", "running", 2)})}, 0, false);
  EXPECT_EQ(active[0]["tasks_total"], 5);
  EXPECT_EQ(active[0]["finished"], 3) << "the part that is not listed any more";
}

TEST(MergeJobs, WhatASilentMasterMayHaveHasNotFinished) {
  const merge::Documents half{listed({part("m0", "completed", 3)})};
  const json job = merge::jobs(half, 0, false, false)[0];
  EXPECT_EQ(job["tasks_total"], 5);
  EXPECT_EQ(job["finished"], 3);
  EXPECT_EQ(job["state"], "unknown");
  EXPECT_TRUE(job["over_s"].is_null());
  const auto details = merge::job({part("m0", "running", 3)}, false);
  EXPECT_EQ((*details)["state"], "running");
  EXPECT_EQ((*details)["finished"], 0);
  EXPECT_FALSE(merge::is_whole({part("m0", "running", 3)}));
  EXPECT_TRUE(merge::is_whole({part("m0", "running", 3), part("m1", "completed", 2)}));
}

TEST(MergeJobs, ListsTheNewestFirstAndNoMoreThanAsked) {
  json older = part("m0", "running", 5);
  older["job"] = 3;
  const json list = merge::jobs({listed({older, part("m0", "running", 5)})}, 1, false);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["job"], 7);
}

TEST(MergeJobs, ShowsUnderALimitWhatIsNotOverAndThenWhatEndedLast) {
  const auto job = [](std::uint64_t number, const json& over_s) {
    json one = part("m0", over_s.is_null() ? "running" : "completed", 5);
    one["job"] = number;
    one["over_s"] = over_s;
    return one;
  };
  const merge::Documents masters{listed({job(1, nullptr), job(9, 20.0)}),
                                 listed({job(8, 10.0), job(5, 30.0)})};
  const json list = merge::jobs(masters, 3, false);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0]["job"], 9);
  EXPECT_EQ(list[1]["job"], 5);
  EXPECT_EQ(list[2]["job"], 1);
}

TEST(MergeJobs, SortsTheTasksOfAllParts) {
  json first = part("m0", "running", 3);
  first["tasks"] = {{{"task", 0}}, {{"task", 2}}, {{"task", 4}}};
  json second = part("m1", "running", 2);
  second["tasks"] = {{{"task", 1}}, {{"task", 3}}};
  const auto details = merge::job({{{"missing", true}}, first, second});
  ASSERT_TRUE(details);
  ASSERT_EQ((*details)["tasks"].size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ((*details)["tasks"][i]["task"], i);
  const json tasks = first["tasks"];
  const auto explained = merge::job({{{"job", first}, {"tasks", tasks}}});
  ASSERT_TRUE(explained);
  EXPECT_EQ((*explained)["job"]["job"], 7);
  EXPECT_EQ((*explained)["tasks"].size(), 3u);
}

/// A part of job 7 as a site lists it: on its way to a master, or over.
json part_at_site(const std::string& state, const json& to) {
  json part = ::muster::part("", state, 2);
  part["master"] = nullptr;
  part["to"] = to;
  part["reason"] = to.is_null() ? json("the task is not valid") : json(nullptr);
  part["submitted_s"] = nullptr;
  if (to.is_null()) part["over_s"] = 150.0;
  return part;
}

TEST(MergeJobs, IsRefusedWithTheReasonWhenAPartEndedAtASite) {
  const merge::Documents sites =
      merge::as_details({listed({part_at_site("refused", nullptr)})}, false);
  const auto job = merge::job({part("m0", "cancelled", 3), sites.at(0)});
  ASSERT_TRUE(job);
  EXPECT_EQ((*job)["state"], "refused");
  EXPECT_EQ((*job)["reason"], "the task is not valid");
  EXPECT_EQ((*job)["master"], "m0");
  EXPECT_EQ((*job)["over_s"], 203.0);
  EXPECT_EQ((*job)["tasks_total"], 5);
  EXPECT_FALSE(job->contains("to"));
}

TEST(MergeJobs, CountsAPartOnceThatArrivedWhileItWasAskedFor) {
  merge::Documents sites{
      listed({part_at_site("handing over", "m0"), part_at_site("handing over", "m1")})};
  merge::drop_arrived(sites, {part("m0", "running", 2)});
  ASSERT_EQ(sites[0]["jobs"].size(), 1u);
  EXPECT_EQ(sites[0]["jobs"][0]["to"], "m1");
}

TEST(MergeJobs, CountsAJobOnceThatAnotherSiteHasByNow) {
  json left = part_at_site("handing over", "oslo");
  left["to_site"] = true;
  merge::Documents sites{listed({left}), listed({part_at_site("handing over", "m0")})};
  merge::drop_arrived(sites, {});
  EXPECT_TRUE(sites[0]["jobs"].empty());
  EXPECT_EQ(sites[1]["jobs"].size(), 1u);
}

TEST(MergeJobs, KnowsNothingOfWhatNobodyHas) {
  EXPECT_FALSE(merge::job({{{"missing", true}}, {{"missing", true}}}));
}

}  // namespace
}  // namespace muster
