#include "serve/node/merge_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"

namespace muster {
namespace {

using merge::Jobs;
using test::IsGolden;
using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;

Instant at_s(double s) {
  return Instant{from_seconds(s)};
}

/// A part of job 7, which has five tasks, as a master lists it.
JobView part(const std::string& master, ShownState state, std::uint64_t tasks) {
  const bool over = state >= ShownState::refused;
  JobView view;
  view.job = JobId{7};
  view.master = master;
  view.state = state;
  view.tasks = tasks;
  view.whole = 5;
  view.running = over ? 0 : tasks;
  view.finished = state == ShownState::completed ? tasks : 0;
  view.failed_attempts = 1;
  view.submitted = at_s(100.5 + static_cast<double>(tasks));
  if (over) view.over = at_s(200 + static_cast<double>(tasks));
  view.usd = 0.25;
  if (state != ShownState::failed) return view;
  view.failed = 1;
  view.exit_code = 3;
  view.failed_task = 1;
  view.failure = "task 1 has failed: exit code 3";
  return view;
}
using enum ShownState;

/// The part as its master answers for it alone, with the first of its tasks.
JobDetails detail(const JobView& job, const std::vector<std::uint32_t>& tasks = {},
                  std::uint64_t behind = 0) {
  JobDetails details{true, job};
  for (const std::uint32_t index : tasks) {
    details.tasks.emplace_back();
    details.tasks.back().index = index;
  }
  details.behind = behind;
  return details;
}

/// The first page of a list, 0: of any size.
Jobs page_of(const Jobs& parts, std::size_t limit, bool over_only, bool complete = true) {
  return merge::jobs(merge::page(parts, std::nullopt, limit == 0 ? 1'000 : limit), over_only,
                     complete);
}

TEST(MergeJobs, PutsTheJobTogetherOfItsParts) {
  const Jobs list = page_of({part("m0", completed, 3), part("m1", running, 2)}, 0, false);
  ASSERT_EQ(list.size(), 1u);
  const JobView& job = list[0];
  EXPECT_EQ(job.tasks, 5U);
  EXPECT_EQ(job.finished, 3U);
  EXPECT_EQ(job.running, 2U);
  EXPECT_EQ(job.failed_attempts, 2U);
  EXPECT_EQ(job.usd, 0.5);
  EXPECT_EQ(job.state, running);
  EXPECT_EQ(job.master, "m0, m1");
  EXPECT_EQ(job.submitted, at_s(102.5));
  EXPECT_FALSE(job.over.has_value());
}

TEST(MergeJobs, IsOverWithTheLastOfTheParts) {
  const Jobs list = page_of({part("m0", completed, 3), part("m1", completed, 2)}, 0, true);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].over, at_s(203));
  EXPECT_EQ(list[0].state, completed);
}

TEST(MergeJobs, HasFailedWhenAPartHas) {
  const Jobs list = page_of({part("m0", completed, 3), part("m1", failed, 2)}, 0, true);
  EXPECT_EQ(list[0].state, failed);
  EXPECT_EQ(list[0].exit_code, 3);
  EXPECT_EQ(list[0].reason, part("m1", failed, 2).failure);
  EXPECT_FALSE(list[0].failure);
}

TEST(MergeJobs, HasExpiredWhenAPartHasForWhichTheOthersAreCancelled) {
  EXPECT_EQ(page_of({part("m0", cancelled, 2), part("m1", expired, 3)}, 0, false)[0].state,
            expired);
  EXPECT_EQ(page_of({part("m0", running, 2), part("m1", expired, 3)}, 0, false)[0].state, running);
}

TEST(MergeJobs, HasTheExitCodeOfTheFailedTaskWithTheLowestIndex) {
  JobView later = part("m0", failed, 3);
  later.failed_task = 4;
  later.exit_code = 9;
  later.failure = "task 4 has failed: exit code 9";
  const JobView job = page_of({later, part("m1", failed, 2)}, 0, true)[0];
  EXPECT_EQ(job.exit_code, 3);
  EXPECT_EQ(job.failed_task, 1U);
  EXPECT_EQ(job.failed, 2U);
  EXPECT_THAT(job.reason,
              Optional(AllOf(HasSubstr("task 1 "), HasSubstr("code 3; 2 of 5 "), IsGolden())));
}

TEST(MergeJobs, HasNoExitCodeWhenNoTaskHasFailedAndNotAllHaveFinished) {
  const JobView job = page_of({part("m0", completed, 3), part("m1", cancelled, 2)}, 0, true)[0];
  EXPECT_EQ(job.state, cancelled);
  EXPECT_FALSE(job.exit_code.has_value());
  const JobView done = page_of({part("m0", completed, 3), part("m1", completed, 2)}, 0, true)[0];
  EXPECT_EQ(done.exit_code, 0);
}

TEST(MergeJobs, ThatWasCancelledBecauseTooManyTasksFailedHasFailed) {
  JobView stopped = part("m0", cancelled, 3);
  stopped.max_fails = 1;
  stopped.failed = 1;
  stopped.failed_task = 2;
  stopped.exit_code = 7;
  stopped.failure = "task 2 has failed: exit code 7";
  JobView other = part("m1", cancelled, 2);
  other.max_fails = 1;
  EXPECT_EQ(page_of({stopped, other}, 0, true)[0].state, cancelled)
      << "one may fail: a user has cancelled it";
  other.failed = 1;
  const JobView job = page_of({stopped, other}, 0, true)[0];
  EXPECT_EQ(job.state, failed);
  EXPECT_EQ(job.exit_code, 7);
  EXPECT_THAT(job.reason,
              Optional(AllOf(HasSubstr("task 2 "), HasSubstr("code 7; 2 of 5 "), IsGolden())));
}

TEST(MergeJobs, SaysForItsPartsHowFarItIsAndWhy) {
  JobView waits = part("m0", waiting, 3);
  waits.reason = "3 of 5 tasks wait, not now: awaiting round";
  JobView starts = part("m1", starting, 2);
  EXPECT_EQ(page_of({waits, starts}, 0, false)[0].state, starting);
  const Jobs both = page_of({waits, part("m1", waiting, 2)}, 0, false);
  EXPECT_EQ(both[0].reason, "m0: " + *waits.reason);
}

TEST(MergeJobs, SaysOfEachMasterWhyItsTasksWait) {
  JobView first = part("m0", waiting, 3);
  first.reason = "2 of 3 tasks wait, not now: instance cap";
  JobView second = part("m1", running, 2);
  second.reason = "1 of 2 tasks waits, not now: awaiting round";
  const JobView job = page_of({first, second}, 0, false)[0];
  EXPECT_EQ(job.state, running);
  EXPECT_EQ(job.reason, "m0: " + *first.reason + "; m1: " + *second.reason);
  const JobView alone = page_of({first}, 0, false)[0];
  EXPECT_EQ(alone.reason, first.reason) << "nobody else has a part of it";
}

TEST(MergeJobs, IsNotListedAsOverWhileAPartIsElsewhere) {
  merge::ListedPage page = merge::page({part("m0", completed, 3)}, std::nullopt, 9);
  EXPECT_EQ(merge::in_doubt(page), std::vector<JobId>{JobId{7}});
  merge::settle(page, {part("m0", completed, 3), part("m1", running, 2)});
  EXPECT_TRUE(page.jobs.empty()) << "it is listed with those that are not over";
  const Jobs active = page_of({part("m1", running, 2)}, 0, false);
  EXPECT_EQ(active[0].tasks, 5U);
  EXPECT_EQ(active[0].finished, 3U) << "the part that is not listed any more";
}

TEST(MergeJobs, IsOverWhenNobodyHasTheRestOfItAnyMore) {
  const Jobs half{part("m0", completed, 3)};
  merge::ListedPage page = merge::page(half, std::nullopt, 9);
  merge::settle(page, half);
  EXPECT_EQ(merge::jobs(page, true, true)[0].finished, 5U);
  EXPECT_TRUE(merge::jobs(page, true, false).empty()) << "a silent master may have it";
  EXPECT_EQ(merge::jobs(page, false, false)[0].state, unknown);
}

TEST(MergeJobs, TakesPartsThatAreOnOtherPages) {
  merge::ListedPage page = merge::page({part("m0", running, 3)}, std::nullopt, 9);
  merge::settle(page, {part("m0", running, 3), part("m1", failed, 2)});
  const JobView job = merge::jobs(page, false)[0];
  EXPECT_EQ(job.failed, 1U) << "its part that is over is far behind on the list";
  EXPECT_EQ(job.state, running);
  EXPECT_TRUE(merge::in_doubt(page).empty());
  merge::settle(page, {part("m1", failed, 2)});
  EXPECT_EQ(merge::jobs(page, false)[0].running, 3U) << "m0 has fallen silent since";
}

TEST(MergeJobs, WhatASilentMasterMayHaveHasNotFinished) {
  const Jobs half{part("m0", completed, 3)};
  const JobView job = page_of(half, 0, false, false)[0];
  EXPECT_EQ(job.tasks, 5U);
  EXPECT_EQ(job.finished, 3U);
  EXPECT_EQ(job.state, unknown);
  EXPECT_FALSE(job.over.has_value());
  const auto details = merge::job({detail(part("m0", running, 3))}, false);
  ASSERT_TRUE(details);
  EXPECT_EQ(details->job.state, running);
  EXPECT_EQ(details->job.finished, 0U);
  EXPECT_FALSE(merge::is_whole({detail(part("m0", running, 3))}));
  EXPECT_TRUE(merge::is_whole({detail(part("m0", running, 3)), detail(part("m1", completed, 2))}));
}

/// A job of five tasks, all with one master.
JobView whole(std::uint64_t number, bool over) {
  JobView one = part("m0", over ? completed : running, 5);
  one.job = JobId{number};
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
  const Jobs masters{whole(1, false), whole(9, true), whole(3, false), whole(8, true),
                     whole(5, true)};
  EXPECT_EQ(text_of(merge::page(masters, std::nullopt, 3)), "3 1 -9 over:0:9");
  EXPECT_EQ(text_of(merge::page(masters, std::nullopt, 2)), "3 1 active:0:1");
  EXPECT_EQ(text_of(merge::page(masters, std::nullopt, 5)), "3 1 -9 -8 -5 end");
}

TEST(MergeJobs, GoesOnBehindACursor) {
  const Jobs masters{whole(1, false), whole(9, true), whole(3, false), whole(8, true),
                     whole(5, true)};
  const auto behind = [&](const char* cursor, std::size_t limit) {
    return text_of(merge::page(masters, job_cursor_from(cursor), limit));
  };
  EXPECT_EQ(behind("active:0:3", 2), "1 -9 over:0:9");
  EXPECT_EQ(behind("active:0:1", 2), "-9 -8 over:0:8");
  EXPECT_EQ(behind("over:0:9", 2), "-8 -5 end");
  EXPECT_EQ(behind("over:0:9", 1), "-8 over:0:8");
  EXPECT_EQ(behind("over:0:5", 2), "end");
  EXPECT_EQ(behind("active:0:0", 1), "-9 over:0:9");
}

JobView submitted(std::uint64_t job, int at_s) {
  JobView view = whole(job, false);
  view.place = {Instant{std::chrono::seconds{at_s}}, JobId{job}};
  return view;
}

TEST(MergeJobs, ListsByTimeOfSubmissionOverAllSites) {
  const Jobs masters{submitted(1'000'000'001, 10), submitted(353, 30), submitted(354, 40),
                     submitted(1'000'000'002, 35)};
  const merge::ListedPage first = merge::page(masters, std::nullopt, 2);
  EXPECT_EQ(text_of(first), "354 1000000002 active:35000000000:1000000002");
  EXPECT_EQ(text_of(merge::page(masters, first.next, 2)), "353 1000000001 end");
}

TEST(MergeJobs, AJobThatComesBetweenTwoPagesMovesNoOther) {
  Jobs masters{submitted(1'000'000'001, 10), submitted(353, 30), submitted(354, 40)};
  const merge::ListedPage first = merge::page(masters, std::nullopt, 1);
  masters.push_back(submitted(1'000'000'002, 50));
  EXPECT_EQ(text_of(merge::page(masters, first.next, 5)), "353 1000000001 end");
}

TEST(MergeJobs, SiftsWholeJobsOnceMore) {
  JobView failed = whole(1, true);
  failed.state = ShownState::failed;
  failed.failed = 1;
  failed.exit_code = 3;
  JobView done = whole(2, true);
  done.state = ShownState::completed;
  done.exit_code = 0;
  JobView runs = whole(3, false);
  const auto left = [&](const JobFilter& filter) {
    Jobs list{failed, done, runs};
    merge::sift(list, filter);
    std::string text;
    for (const JobView& job : list) text += std::to_string(job.job.value) + " ";
    return text;
  };
  EXPECT_EQ(left({}), "1 2 3 ");
  EXPECT_EQ(left({.failed = true}), "1 ");
  EXPECT_EQ(left({.outcome = JobOutcome::completed}), "2 ");
  EXPECT_EQ(left({.exit_code = 3}), "1 ");
}

TEST(MergeJobs, ThePagesTogetherHaveEveryJobOnce) {
  Jobs masters;
  for (std::uint64_t job = 1; job <= 40; ++job) masters.push_back(whole(job, job % 4 < 2));
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
  const Jobs masters{whole(9, true), part("m0", completed, 3), whole(5, true)};
  merge::ListedPage page = merge::page(masters, std::nullopt, 2);
  EXPECT_EQ(text_of(page), "-9 -7 over:0:7");
  merge::settle(page, {part("m1", running, 2)});
  EXPECT_EQ(text_of(page), "-9 over:0:7");
}

JobDetails with_tasks(const std::string& master, const std::vector<std::uint32_t>& tasks,
                      std::uint64_t behind) {
  return detail(part(master, running, 0), tasks, behind);
}

/// The tasks of the page, where to go on and how many there are left.
std::string tasks_of(const std::vector<JobDetails>& parts, std::size_t limit) {
  const merge::WholeJob job = merge::job(parts, true, limit).value();
  std::string text;
  for (const TaskView& task : job.tasks) text += std::to_string(task.index) + " ";
  text += job.next ? std::to_string(*job.next) : "null";
  return text + " " + std::to_string(job.behind);
}

TEST(MergeJobs, APageOfTasksHasTheFirstOfAllParts) {
  const std::vector<JobDetails> parts{with_tasks("m0", {0, 2, 9}, 0),
                                      with_tasks("m1", {1, 3, 4}, 0)};
  EXPECT_EQ(tasks_of(parts, 0), "0 1 2 3 4 9 null 0");
  EXPECT_EQ(tasks_of(parts, 6), "0 1 2 3 4 9 null 0");
  EXPECT_EQ(tasks_of(parts, 4), "0 1 2 3 3 2");
  EXPECT_EQ(tasks_of({with_tasks("m0", {}, 0)}, 4), "null 0");
}

TEST(MergeJobs, APageOfTasksEndsWhereAMasterHasNotToldAll) {
  const std::vector<JobDetails> parts{with_tasks("m0", {0, 2}, 5), with_tasks("m1", {1, 3, 8}, 0)};
  EXPECT_EQ(tasks_of(parts, 9), "0 1 2 2 7") << "m0 may have tasks 4 to 7";
  EXPECT_EQ(tasks_of(parts, 1), "0 0 9");
}

TEST(MergeJobs, SortsTheTasksOfAllParts) {
  const auto details = merge::job(
      {{}, detail(part("m0", running, 3), {0, 2, 4}), detail(part("m1", running, 2), {1, 3})});
  ASSERT_TRUE(details);
  ASSERT_EQ(details->tasks.size(), 5u);
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(details->tasks[i].index, i);
}

/// A part of job 7 as a site lists it: on its way to a master, or over.
JobView part_at_site(ShownState state, const std::string& to) {
  JobView view = part("", state, 2);
  view.to = to;
  view.submitted.reset();
  view.over.reset();
  if (!to.empty()) return view;
  view.reason = "the task is not valid";
  view.over = at_s(150);
  return view;
}

TEST(MergeJobs, IsRefusedWithTheReasonWhenAPartEndedAtASite) {
  const auto whole =
      merge::job({detail(part("m0", cancelled, 3)), detail(part_at_site(refused, ""))});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->job.state, refused);
  EXPECT_EQ(whole->job.reason, part_at_site(refused, "").reason);
  EXPECT_EQ(whole->job.master, "m0");
  EXPECT_EQ(whole->job.over, at_s(203));
  EXPECT_EQ(whole->job.tasks, 5U);
}

TEST(MergeJobs, CountsAPartOnceThatArrivedWhileItWasAskedFor) {
  std::vector<Jobs> sites{{part_at_site(handing_over, "m0"), part_at_site(handing_over, "m1")}};
  merge::drop_arrived(sites, {part("m0", running, 2)});
  ASSERT_EQ(sites[0].size(), 1u);
  EXPECT_EQ(sites[0][0].to, "m1");
}

TEST(MergeJobs, CountsAJobOnceThatAnotherSiteHasByNow) {
  JobView left = part_at_site(handing_over, "oslo");
  left.to_site = true;
  std::vector<Jobs> sites{{left}, {part_at_site(handing_over, "m0")}};
  merge::drop_arrived(sites, {});
  EXPECT_TRUE(sites[0].empty());
  EXPECT_EQ(sites[1].size(), 1u);
}

TEST(MergeJobs, KnowsNothingOfWhatNobodyHas) {
  EXPECT_FALSE(merge::job({JobDetails{}, JobDetails{}}));
}

}  // namespace
}  // namespace muster
