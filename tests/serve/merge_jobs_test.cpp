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

/// The first page of a list, 0: of any size.
json page_of(const merge::Documents& parts, std::size_t limit, bool over_only,
             bool complete = true) {
  return merge::jobs(merge::page(parts, std::nullopt, limit == 0 ? 1'000 : limit), over_only,
                     complete);
}

TEST(MergeJobs, PutsTheJobTogetherOfItsParts) {
  const json list =
      page_of({listed({part("m0", "completed", 3)}), listed({part("m1", "running", 2)})}, 0, false);
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
  const json list = page_of(
      {listed({part("m0", "completed", 3)}), listed({part("m1", "completed", 2)})}, 0, true);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["over_s"], 203.0);
  EXPECT_EQ(list[0]["state"], "completed");
}

TEST(MergeJobs, HasFailedWhenAPartHas) {
  const json list =
      page_of({listed({part("m0", "completed", 3)}), listed({part("m1", "failed", 2)})}, 0, true);
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
  const json job = page_of({listed({later}), listed({part("m1", "failed", 2)})}, 0, true)[0];
  EXPECT_EQ(job["exit_code"], 3);
  EXPECT_EQ(job["failed_task"], 1);
  EXPECT_EQ(job["failed"], 2);
  EXPECT_EQ(job["reason"], "task 1 has failed: exit code 3; 2 of 5 tasks have failed");
}

TEST(MergeJobs, HasNoExitCodeWhenNoTaskHasFailedAndNotAllHaveFinished) {
  const json job = page_of(
      {listed({part("m0", "completed", 3)}), listed({part("m1", "cancelled", 2)})}, 0, true)[0];
  EXPECT_EQ(job["state"], "cancelled");
  EXPECT_TRUE(job["exit_code"].is_null());
  const json done = page_of(
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
  EXPECT_EQ(page_of({listed({stopped}), listed({other})}, 0, true)[0]["state"], "cancelled")
      << "one may fail: a user has cancelled it";
  other["failed"] = 1;
  const json job = page_of({listed({stopped}), listed({other})}, 0, true)[0];
  EXPECT_EQ(job["state"], "failed");
  EXPECT_EQ(job["exit_code"], 7);
  EXPECT_EQ(job["reason"],
            "task 2 has failed: exit code 7; 2 of 5 tasks have failed, and only 1 may");
}

TEST(MergeJobs, SaysForItsPartsHowFarItIsAndWhy) {
  json waits = part("m0", "waiting", 3);
  waits["reason"] = "3 of 5 tasks wait, not now: awaiting round";
  json starts = part("m1", "starting", 2);
  EXPECT_EQ(page_of({listed({waits}), listed({starts})}, 0, false)[0]["state"], "starting");
  const json both = page_of({listed({waits}), listed({part("m1", "waiting", 2)})}, 0, false);
  EXPECT_EQ(both[0]["reason"], waits["reason"]);
}

TEST(MergeJobs, IsNotListedAsOverWhileAPartIsElsewhere) {
  merge::ListedPage page = merge::page({listed({part("m0", "completed", 3)})}, std::nullopt, 9);
  EXPECT_EQ(merge::in_doubt(page), std::vector<JobId>{JobId{7}});
  merge::settle(page, {listed({part("m0", "completed", 3)}), listed({part("m1", "running", 2)})});
  EXPECT_TRUE(page.jobs.empty()) << "it is listed with those that are not over";
  const json active = page_of({listed({part("m1", "running", 2)})}, 0, false);
  EXPECT_EQ(active[0]["tasks_total"], 5);
  EXPECT_EQ(active[0]["finished"], 3) << "the part that is not listed any more";
}

TEST(MergeJobs, IsOverWhenNobodyHasTheRestOfItAnyMore) {
  const merge::Documents half{listed({part("m0", "completed", 3)})};
  merge::ListedPage page = merge::page(half, std::nullopt, 9);
  merge::settle(page, half);
  EXPECT_EQ(merge::jobs(page, true, true)[0]["finished"], 5);
  EXPECT_TRUE(merge::jobs(page, true, false).empty()) << "a silent master may have it";
  EXPECT_EQ(merge::jobs(page, false, false)[0]["state"], "unknown");
}

TEST(MergeJobs, TakesPartsThatAreOnOtherPages) {
  merge::ListedPage page = merge::page({listed({part("m0", "running", 3)})}, std::nullopt, 9);
  merge::settle(page, {listed({part("m0", "running", 3)}), listed({part("m1", "failed", 2)})});
  const json job = merge::jobs(page, false)[0];
  EXPECT_EQ(job["failed"], 1) << "its part that is over is far behind on the list";
  EXPECT_EQ(job["state"], "running");
  EXPECT_TRUE(merge::in_doubt(page).empty());
  merge::settle(page, {listed({part("m1", "failed", 2)})});
  EXPECT_EQ(merge::jobs(page, false)[0]["running"], 3) << "m0 has fallen silent since";
}

TEST(MergeJobs, WhatASilentMasterMayHaveHasNotFinished) {
  const merge::Documents half{listed({part("m0", "completed", 3)})};
  const json job = page_of(half, 0, false, false)[0];
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

/// A job of five tasks, all with one master.
json whole(std::uint64_t number, bool over) {
  json one = part("m0", over ? "completed" : "running", 5);
  one["job"] = number;
  return one;
}

/// Those of the page, with a minus where they are over, and where the next one begins.
std::string text_of(const merge::ListedPage& page) {
  std::string text;
  for (const merge::ListedJob& job : page.jobs) {
    text += (job.over ? "-" : "") + std::to_string(job.job.value) + " ";
  }
  return text + (page.next ? to_text(*page.next) : "end");
}

TEST(MergeJobs, ShowsWhatIsNotOverFirstAndOfEachTheHighestNumbers) {
  const merge::Documents masters{listed({whole(1, false), whole(9, true)}),
                                 listed({whole(3, false), whole(8, true), whole(5, true)})};
  EXPECT_EQ(text_of(merge::page(masters, std::nullopt, 3)), "3 1 -9 over:9");
  EXPECT_EQ(text_of(merge::page(masters, std::nullopt, 2)), "3 1 active:1");
  EXPECT_EQ(text_of(merge::page(masters, std::nullopt, 5)), "3 1 -9 -8 -5 end");
}

TEST(MergeJobs, GoesOnBehindACursor) {
  const merge::Documents masters{listed({whole(1, false), whole(9, true)}),
                                 listed({whole(3, false), whole(8, true), whole(5, true)})};
  const auto behind = [&](const char* cursor, std::size_t limit) {
    return text_of(merge::page(masters, job_cursor_from(cursor), limit));
  };
  EXPECT_EQ(behind("active:3", 2), "1 -9 over:9");
  EXPECT_EQ(behind("active:1", 2), "-9 -8 over:8");
  EXPECT_EQ(behind("over:9", 2), "-8 -5 end");
  EXPECT_EQ(behind("over:9", 1), "-8 over:8");
  EXPECT_EQ(behind("over:5", 2), "end");
  EXPECT_EQ(behind("active:0", 1), "-9 over:9");
}

TEST(MergeJobs, ThePagesTogetherHaveEveryJobOnce) {
  merge::Documents masters{listed({}), listed({}), listed({})};
  for (std::uint64_t job = 1; job <= 40; ++job) {
    masters[job % 3]["jobs"].push_back(whole(job, job % 4 < 2));
  }
  const merge::ListedPage all = merge::page(masters, std::nullopt, 40);
  for (const std::size_t limit : {1, 3, 7, 39}) {
    std::vector<JobId> seen;
    std::optional<JobCursor> after;
    do {
      const merge::ListedPage page = merge::page(masters, after, limit);
      ASSERT_LE(page.jobs.size(), limit);
      for (const merge::ListedJob& job : page.jobs) seen.push_back(job.job);
      after = page.next;
    } while (after);
    ASSERT_EQ(seen.size(), 40U) << limit;
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], all.jobs[i].job);
  }
}

TEST(MergeJobs, TheNextPageBeginsBehindAJobThatOnlyLookedOver) {
  merge::Documents masters{listed({whole(9, true), part("m0", "completed", 3), whole(5, true)})};
  merge::ListedPage page = merge::page(masters, std::nullopt, 2);
  EXPECT_EQ(text_of(page), "-9 -7 over:7");
  merge::settle(page, {listed({part("m1", "running", 2)})});
  EXPECT_EQ(text_of(page), "-9 over:7");
}

/// A part of job 7 with some of its tasks, as far as its master has listed them.
json with_tasks(const std::string& master, const std::vector<int>& tasks, int behind) {
  json one = part(master, "running", 0);
  one["tasks"] = json::array();
  for (const int task : tasks) one["tasks"].push_back({{"task", task}});
  one["tasks_behind"] = behind;
  return one;
}

/// The tasks of the page, where to go on and how many there are left.
std::string tasks_of(const merge::Documents& parts, std::size_t limit) {
  const json job = merge::job(parts, true, limit).value();
  std::string text;
  for (const json& task : job["tasks"]) text += task["task"].dump() + " ";
  return text + job["next"].dump() + " " + job["tasks_behind"].dump();
}

TEST(MergeJobs, APageOfTasksHasTheFirstOfAllParts) {
  const merge::Documents parts{with_tasks("m0", {0, 2, 9}, 0), with_tasks("m1", {1, 3, 4}, 0)};
  EXPECT_EQ(tasks_of(parts, 0), "0 1 2 3 4 9 null 0");
  EXPECT_EQ(tasks_of(parts, 6), "0 1 2 3 4 9 null 0");
  EXPECT_EQ(tasks_of(parts, 4), "0 1 2 3 3 2");
  EXPECT_EQ(tasks_of({with_tasks("m0", {}, 0)}, 4), "null 0");
}

TEST(MergeJobs, APageOfTasksEndsWhereAMasterHasNotToldAll) {
  const merge::Documents parts{with_tasks("m0", {0, 2}, 5), with_tasks("m1", {1, 3, 8}, 0)};
  EXPECT_EQ(tasks_of(parts, 9), "0 1 2 2 7") << "m0 may have tasks 4 to 7";
  EXPECT_EQ(tasks_of(parts, 1), "0 0 9");
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
