#include "masters/view/cell_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/masters/view/cell_view_fixture.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::at_s;
using test::by_name;
using test::CellViewTest;
using test::explained;
using test::IsGolden;
using test::JobBuilder;
using test::tasks_wanted;
using test::whole;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Optional;

TEST_F(CellViewTest, AnUpdateThatWasGivenUpIsExplainedByTheLastTroubleOfItsReplicas) {
  JobHistory update;
  update.job = JobBuilder(2).tasks(3).gang(false).build();
  ServiceSpec spec;
  spec.replaces = JobId{1};
  spec.update_within = std::chrono::minutes{2};
  update.job.kind = spec;
  update.outcome = JobOutcome::failed;
  update.tasks.resize(3);
  update.tasks[0].attempts = 1;
  update.tasks[0].reason = "ready: port http: connection refused";
  update.tasks[1].reason = "it waits, not now: spend cap";
  history_.add(std::move(update));
  const JobDetails shown = job(explained(tasks_wanted(2, {})));
  EXPECT_THAT(shown.job.reason, Optional(AllOf(HasSubstr("2min"), IsGolden())));
  EXPECT_THAT(shown.tasks[0].why, IsGolden());
  EXPECT_THAT(shown.tasks[1].why, IsGolden());
  EXPECT_EQ(shown.tasks[1].reason, std::nullopt) << "it was not refused";
  EXPECT_THAT(shown.tasks[2].why, IsGolden());
}

TEST_F(CellViewTest, AnAnswerAboutJobsThatAreOverReadsNothingByItself) {
  over(1, "ada", 2);
  view().jobs({});
  view().job({JobId{1}});
  view().find({JobId{1}, 0});
  view().request({JobId{1}});
  for (const CostSplit by : {CostSplit::user, CostSplit::job}) view().cost({by});
  view().figures();
  EXPECT_EQ(history_.reads, 0);
  EXPECT_EQ(job(1).job.master, "m0");
  EXPECT_EQ(job(explained(tasks_wanted(1, {}))).job.job, JobId{1});
  EXPECT_TRUE(whole(view().find({JobId{1}, 0})).over);
  EXPECT_FALSE(job(2).known);
}

TEST_F(CellViewTest, AListReadsNoMoreThanItShows) {
  for (std::uint64_t id = 1; id <= 50; ++id) over(id, id % 2 == 0 ? "ada" : "bob", 1);
  ASSERT_EQ(master_->submit(JobBuilder(99).build(), at_s(1)), SubmitResult::accepted);
  const std::vector<JobView> list = jobs({.most = 3}).jobs;
  ASSERT_EQ(list.size(), 4u) << "as many of those that are over as it would show without others";
  EXPECT_EQ(list[0].job, JobId{99});
  EXPECT_EQ(list[1].job, JobId{50});
  EXPECT_EQ(list[2].master, "m0");
  EXPECT_EQ(history_.reads, 3);
  const std::vector<JobView> of_bob =
      jobs({.active = false, .filter = {.user = "bob"}, .most = 2}).jobs;
  ASSERT_EQ(of_bob.size(), 2u);
  EXPECT_EQ(of_bob[0].job, JobId{49});
  EXPECT_TRUE(view().jobs({.over = false}).read == nullptr);
}

TEST_F(CellViewTest, APageBeginsBehindItsCursorAndGoesByNumber) {
  for (const std::uint64_t id : {8, 3, 9, 5}) over(id, "ada", 1);
  for (const std::uint64_t id : {20, 12, 31, 15}) {
    ASSERT_EQ(master_->submit(JobBuilder(id).build(), at_s(1)), SubmitResult::accepted);
  }
  const auto page = [&](const std::string& state, const char* after, std::uint32_t most) {
    JobsQuestion wanted{.active = state != "over", .over = state != "active", .most = most};
    if (const auto cursor = job_cursor_from(after)) wanted.begin_behind(*cursor);
    std::string text;
    for (const JobView& job : jobs(wanted).jobs) text += std::to_string(job.job.value) + " ";
    return text;
  };
  EXPECT_EQ(page("all", "", 9), "31 20 15 12 9 8 5 3 ");
  EXPECT_EQ(page("all", "", 2), "31 20 ") << "it has as many that are not over";
  EXPECT_EQ(page("active", "active:0:20", 9), "15 12 ");
  EXPECT_EQ(page("all", "active:0:20", 3), "15 12 9 8 5 ") << "three of each";
  EXPECT_EQ(page("all", "over:0:8", 9), "5 3 ");
  EXPECT_EQ(page("over", "", 3), "9 8 5 ");
  EXPECT_EQ(page("over", "over:0:3", 3), "");
}

TEST_F(CellViewTest, ListsJobsByTheTimeOfTheirSubmission) {
  const auto submit = [&](std::uint64_t id, int submitted_s) {
    Job job = JobBuilder(id).build();
    job.submitted = at_s(submitted_s);
    ASSERT_EQ(master_->submit(std::move(job), at_s(100)), SubmitResult::accepted);
  };
  submit(353, 30);
  submit(1'000'000'002, 20);
  submit(1'000'000'003, 40);
  submit(352, 10);
  std::vector<std::uint64_t> ids;
  for (const JobView& each : jobs({}).jobs) ids.push_back(each.job.value);
  EXPECT_THAT(ids, testing::ElementsAre(1'000'000'003, 353, 1'000'000'002, 352));
  EXPECT_EQ(jobs({}).jobs[0].submitted, at_s(40)) << "and not when the master had it";
  JobsQuestion behind{.over = false, .most = 2};
  behind.begin_behind({false, {at_s(30), JobId{353}}});
  ids.clear();
  for (const JobView& each : jobs(behind).jobs) ids.push_back(each.job.value);
  EXPECT_THAT(ids, testing::ElementsAre(1'000'000'002, 352));
}

TEST_F(CellViewTest, LooksAtABoundedNumberOfNamesAndSaysWhereToGoOn) {
  constexpr std::uint64_t kJobs = JobsQuestion::kMost + 5;
  for (std::uint64_t id = 1; id <= kJobs; ++id) {
    Job job = JobBuilder(id).build();
    job.name = id == 3 ? "rare" : "plenty";
    ASSERT_EQ(master_->submit(std::move(job), at_s(1)), SubmitResult::accepted);
  }
  EXPECT_TRUE(jobs({.over = false, .filter = {.user = "nobody"}}).looked);
  JobsQuestion wanted{.over = false, .filter = {.name = "rare"}};
  JobsView piece = jobs(wanted);
  EXPECT_TRUE(piece.jobs.empty());
  ASSERT_TRUE(piece.cut && piece.looked);
  wanted.begin_behind(*piece.looked);
  piece = jobs(wanted);
  ASSERT_EQ(piece.jobs.size(), 1U);
  EXPECT_EQ(piece.jobs[0].job, JobId{3});
  EXPECT_FALSE(piece.cut);
}

TEST_F(CellViewTest, ListsARunningPartWhereAnotherMasterMayHaveAFailedTask) {
  Job part = JobBuilder(1).build();
  part.total_tasks = 2;
  ASSERT_EQ(master_->submit(std::move(part), at_s(1)), SubmitResult::accepted);
  ASSERT_EQ(master_->submit(JobBuilder(2).build(), at_s(1)), SubmitResult::accepted);
  const JobsView list = jobs({.over = false, .filter = {.failed = true}});
  ASSERT_EQ(list.jobs.size(), 1U);
  EXPECT_EQ(list.jobs[0].job, JobId{1});
}

TEST_F(CellViewTest, SaysWhatItHasOfTheJobsThatAreAskedFor) {
  for (const std::uint64_t id : {8, 3, 9}) over(id, "ada", 1);
  ASSERT_EQ(master_->submit(JobBuilder(20).build(), at_s(1)), SubmitResult::accepted);
  const auto some = [&](const std::vector<JobId>& ids) {
    return view().jobs(JobsQuestion::parts_of(ids));
  };
  const auto list = whole(some({JobId{9}, JobId{20}, JobId{4}, JobId{3}})).jobs;
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].job, JobId{20});
  EXPECT_EQ(list[1].job, JobId{9});
  EXPECT_EQ(list[2].job, JobId{3});
  EXPECT_TRUE(some({JobId{20}, JobId{4}}).read == nullptr) << "nothing has to be read";
}

TEST_F(CellViewTest, AJobThatGetsOverBeforeItsHistoryIsReadIsListedOnce) {
  ASSERT_EQ(master_->submit(JobBuilder(20).build(), at_s(1)), SubmitResult::accepted);
  const auto answer = view().jobs({});
  over(20, "ada", 1);
  EXPECT_EQ(whole(answer).jobs.size(), 1U);
}

TEST_F(CellViewTest, ShowsAPageOfTheTasksOfAJobThatIsOver) {
  over(1, "ada", 2);
  JobHistory& array = history_.jobs.back();
  array.job = JobBuilder(1).tasks(600).gang(false).build();
  for (std::uint32_t i = 0; i < 600; ++i) array.job.tasks[i].array_index = 599 - i;
  array.tasks.assign(600, {});
  for (std::uint32_t i = 0; i < 600; i += 100) array.tasks[i].failed = true;
  const auto page = [&](std::optional<std::uint32_t> after, std::uint32_t most,
                        const std::string& phase = {}) {
    const JobDetails shown = job(tasks_wanted(1, after, phase, most));
    std::string tasks;
    for (const TaskView& task : shown.tasks) tasks += std::to_string(task.index) + " ";
    return tasks + std::to_string(shown.behind);
  };
  EXPECT_EQ(page({}, 3), "0 1 2 597");
  EXPECT_EQ(page(596, 3), "597 598 599 0");
  EXPECT_EQ(page(599, 3), "0");
  EXPECT_EQ(page({}, 3, "failed"), "99 199 299 3");
  EXPECT_EQ(page(299, 9, "failed"), "399 499 599 0");
  EXPECT_EQ(job(explained(tasks_wanted(1, {}, "failed", 2))).behind, 4U);
  EXPECT_EQ(job(tasks_wanted(1, {}, {}, 500)).tasks.size(), 500U) << "it is not read on the actor";
}

TEST_F(CellViewTest, CostsByUserAreThoseOfAllJobsThatEverWere) {
  over(1, "ada", 2);
  history_.spent["ada"] += dollars(40);  // of jobs that are no longer kept
  EXPECT_DOUBLE_EQ(by_name(whole(view().cost({CostSplit::user})).by)["ada"], 42);
}

TEST_F(CellViewTest, TheCostsPartsAddUpToTheTasksTotal) {
  over(1, "ada", 2);
  over(2, "bob", 1);
  for (const CostSplit by : {CostSplit::user, CostSplit::job}) {
    // The ledger knows of nothing that was spent, so what is named is too much by all of it.
    const CostView cost = whole(view().cost({by}));
    double sum = 0;
    for (const CostPart& part : cost.by) sum += part.usd;
    EXPECT_NEAR(sum, cost.tasks_usd, 1e-12);
    EXPECT_EQ(cost.by.at(0).name, "(earlier jobs)");
  }
  EXPECT_EQ(history_.reads, 0);
}

/// Jobs of one user under a master that does what the test plans.
class RunningCell : public test::MasterTest {
 protected:
  CellView view() { return {*master_, nullptr, {}, "m0", at_s(1000)}; }
  JobDetails job(const JobQuestion& wanted) { return view().job(wanted).view; }
  JobDetails job(std::uint64_t id) { return job(tasks_wanted(id, {})); }
  JobView listed() { return view().jobs({}).view.jobs.at(0); }
  std::string_view word(std::uint64_t id) { return name_of(job(id).job.state); }
  void accept(const Job& job) { ASSERT_EQ(master_->submit(job, now()), SubmitResult::accepted); }
};

TEST_F(RunningCell, SeriesOfMetricsAreWorkedOutOnlyForWhoShowsThem) {
  accept(JobBuilder(1).build());
  round(together({1}));
  boot(0);
  started(1, 1);
  ASSERT_TRUE(master_->note_measured({{}, 0, {}, {{TaskId{1}, {{"a", 1}}}}}, now()));
  EXPECT_TRUE(view().figures().metrics.empty());
  EXPECT_EQ(view().figures_with_series().metrics.size(), 1U);
}

TEST_F(RunningCell, AJobsWordIsTrue) {
  accept(JobBuilder(1).tasks(2).gang(false).build());
  EXPECT_EQ(word(1), "waiting");
  round(together({1}));
  EXPECT_EQ(word(1), "starting") << "its instance is not there yet";
  boot(0);
  ASSERT_EQ(master_->state().find(TaskId{1})->phase, TaskPhase::starting);
  EXPECT_EQ(word(1), "starting");
  EXPECT_EQ(view().figures().jobs_running, 0U);
  EXPECT_EQ(view().figures().jobs_waiting, 1U);
  started(1, 1);
  EXPECT_EQ(word(1), "running");
  EXPECT_EQ(view().figures().jobs_running, 1U);
  master_->task_failed({TaskId{1}, 1, "exit 3"}, now());
  EXPECT_EQ(word(1), "waiting") << "nothing of it runs";
  master_->hold(JobId{1}, true, now());
  EXPECT_EQ(word(1), "held");
  EXPECT_EQ(view().figures().jobs_held, 1U);
  master_->hold(JobId{1}, false, now());
  Plan again;
  again.places = {{TaskId{1}, InstanceId{0}, {}}};
  round(again);
  started(1, 2);
  master_->cancel(JobId{1}, now());
  EXPECT_EQ(word(1), "stopping");
  EXPECT_EQ(view().figures().pending, 1U);
}

TEST_F(RunningCell, SaysWhyMostOfAJobsTasksWait) {
  accept(JobBuilder(1).tasks(4).gang(false).build());
  const Refusal capped{RefusalKind::not_now, RefusalCode::instance_cap, {}, 1, 0};
  Plan plan = together({1});
  for (std::uint64_t task : {101, 102}) plan.refusals.push_back({TaskId{task}, capped});
  round(plan);
  EXPECT_THAT(job(1).job.reason, Optional(AllOf(HasSubstr("2 of 4"),
                                                HasSubstr("(asked 1, available 0)"), IsGolden())));
  EXPECT_EQ(job(explained(tasks_wanted(1, {}))).job.reason, job(1).job.reason);
  boot(0);
  started(1, 1);
  master_->task_failed({TaskId{1}, 1, "exit 3", {3, {}, {}}}, now());
  const JobView shown = job(1).job;
  EXPECT_THAT(shown.reason, Optional(AllOf(HasSubstr("task 0"), EndsWith("exit 3"), IsGolden())));
  EXPECT_EQ(shown.failed_attempts, 1U);
  EXPECT_EQ(shown.failed, 0U) << "it is tried again";
  EXPECT_EQ(shown.exit_code, std::nullopt);
  accept(JobBuilder(2).build());
  EXPECT_THAT(job(2).job.reason, Optional(IsGolden()));
  EXPECT_EQ(listed().reason, std::nullopt) << "a list looks at no task";
}

TEST_F(RunningCell, ShowsAPageOfAJobsTasks) {
  Job array = JobBuilder(1).tasks(600).gang(false).build();
  for (std::uint32_t i = 0; i < 600; ++i) array.tasks[i].array_index = i;
  accept(array);
  round(together({1}));
  boot(0);
  started(1, 1);
  const JobDetails first = job(1);
  EXPECT_EQ(first.tasks.size(), 250U) << "no more at once, for the master has other things to do";
  EXPECT_EQ(first.behind, 350U);
  EXPECT_EQ(first.job.tasks, 600U);
  JobQuestion next = explained(tasks_wanted(1, 597));
  next.tasks_only = true;
  const JobDetails last = job(next);
  ASSERT_EQ(last.tasks.size(), 2U);
  EXPECT_EQ(last.tasks[0].index, 598U);
  EXPECT_THAT(last.tasks[0].why, IsGolden());
  EXPECT_EQ(last.behind, 0U);
  EXPECT_FALSE(last.job.reason) << "that is said once";
  const JobDetails running = job(tasks_wanted(1, {}, "running"));
  ASSERT_EQ(running.tasks.size(), 1U);
  EXPECT_EQ(running.tasks[0].phase, ShownPhase::running);
  EXPECT_TRUE(job(tasks_wanted(1, {}, "failed")).tasks.empty());
}

TEST_F(RunningCell, OfAGangThatWaitsItSaysWhatKeepsItWaiting) {
  accept(JobBuilder(1).tasks(3).gang(true).build());
  const Refusal crowded{RefusalKind::not_now, RefusalCode::over_capacity, Resource::cpu, 2, 1};
  const Refusal peers{RefusalKind::not_now, RefusalCode::awaiting_peers, {}, 0, 0};
  Plan plan;
  plan.refusals = {{TaskId{1}, peers}, {TaskId{101}, crowded}, {TaskId{102}, peers}};
  round(plan);
  EXPECT_THAT(
      job(1).job.reason,
      Optional(AllOf(HasSubstr("1 of 3"), HasSubstr("(cpu: asked 2, available 1)"), IsGolden())));
}

TEST_F(RunningCell, NamesWhatUsersAndJobsThatAreNotOverHaveCost) {
  one_running(1);
  Job of_bob = JobBuilder(2).tasks(2).gang(false).build();
  of_bob.user = "bob";
  accept(of_bob);
  round(together({2, 201}));
  boot(1);
  started(2, 1);
  started(201, 1);
  clock_s_ = 500;
  master_->task_finished({TaskId{1}, 1}, now());
  master_->task_finished({TaskId{201}, 1}, now());
  const Ledger& ledger = master_->ledger();
  const double bob = (ledger.task(TaskId{2}) + ledger.task(TaskId{201})).usd();
  ASSERT_GT(bob, 0);
  const double earlier = ledger.tasks().usd() - bob;  // job 1 is over
  for (const CostSplit by : {CostSplit::user, CostSplit::job}) {
    const CostView cost = view().cost({by}).view;
    std::map<std::string, double> parts = by_name(cost.by);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_DOUBLE_EQ(parts[by == CostSplit::user ? "bob" : "2 job-2"], bob);
    EXPECT_NEAR(parts["(earlier jobs)"], earlier, 1e-12);
    EXPECT_DOUBLE_EQ(cost.tasks_usd, ledger.tasks().usd());
  }
  // One of its tasks runs on.
  const InstanceRow& on = *master_->state().find(InstanceId{1});
  const Money more = ledger.unsettled(TaskId{2}, on, view().now);
  EXPECT_NEAR(listed().usd, bob + more.usd(), 1e-12);
}

TEST_F(RunningCell, SaysHowLongATaskHasRunAndWhatItsJobAllows) {
  Job given = JobBuilder(1).tasks(2).gang(false).build();
  given.movable = false;
  given.checkpoints = true;
  accept(given);
  round(together({1}));
  boot(0);
  clock_s_ = 400;
  started(1, 1);
  const JobDetails shown = job(1);  // at second 1000
  EXPECT_FALSE(shown.job.movable);
  EXPECT_TRUE(shown.job.checkpoints);
  EXPECT_EQ(shown.tasks.at(0).ran_s, 600);
  EXPECT_EQ(shown.tasks.at(0).started, at_s(400));
  EXPECT_EQ(shown.tasks.at(1).ran_s, 0);
  EXPECT_EQ(shown.tasks.at(1).started, std::nullopt);
  EXPECT_TRUE(listed().checkpoints);
  clock_s_ = 500;
  master_->task_failed({TaskId{1}, 1, "exit 3", {3, {}, {}}}, now());
  EXPECT_EQ(job(1).tasks.at(0).ran_s, 0) << "all of that attempt was lost";
}

TEST_F(CellViewTest, OfATaskThatIsOverItSaysHowLongItRanWhereOneAttemptWasAll) {
  over(1, "ada", 2);
  JobHistory& kept = history_.jobs.back();
  kept.job = JobBuilder(1).tasks(3).build();
  kept.tasks.assign(3, {});
  for (std::size_t i = 0; i < 2; ++i) {
    kept.tasks[i].attempts = static_cast<Attempt>(i + 1);
    kept.tasks[i].finished = true;
    kept.tasks[i].started_at = at_s(2);
    kept.tasks[i].ended_at = at_s(9);
  }
  const std::vector<TaskView> tasks = job(1).tasks;
  EXPECT_EQ(tasks.at(0).ran_s, 7);
  EXPECT_EQ(tasks.at(1).ran_s, std::nullopt);
  EXPECT_EQ(tasks.at(2).ran_s, 0);
}

TEST_F(CellViewTest, SaysHowEachTaskOfAnArrayHasEnded) {
  const std::string out_of_memory = "out of memory: 9 MiB used, 8 MiB granted";
  over(1, "ada", 2);
  JobHistory& array = history_.jobs.back();
  array.job = JobBuilder(1).tasks(5).gang(false).build();
  for (std::uint32_t i = 0; i < 5; ++i) array.job.tasks[i].array_index = 4 - i;
  array.outcome = JobOutcome::failed;
  array.tasks.assign(5, {});
  const auto ended = [&](std::size_t i, std::int32_t code) -> TaskHistory& {
    TaskHistory& task = array.tasks[i];
    task.attempts = 1;
    task.ended_at = at_s(9);
    task.end.exit_code = code;
    return task;
  };
  ended(0, 0).finished = true;
  ended(1, 143);
  for (const std::size_t i : {2, 3}) {
    TaskHistory& task = ended(i, i == 2 ? 9 : 7);
    task.failed = true;
    task.failures = 1;
    task.failure = FailureKind::out_of_memory;
    task.reason = out_of_memory;
  }
  const JobDetails shown = job(explained(tasks_wanted(1, {})));
  EXPECT_EQ(shown.job.exit_code, 7) << "of the failed task with the lowest index";
  EXPECT_EQ(shown.job.failed_task, 1U);
  EXPECT_EQ(shown.job.failed, 2U);
  EXPECT_EQ(shown.job.finished, 1U);
  std::vector<std::string_view> phases;
  for (const TaskView& task : shown.tasks) phases.push_back(name_of(task.phase));
  EXPECT_EQ(phases,
            (std::vector<std::string_view>{"not run", "failed", "failed", "stopped", "finished"}))
      << "by their indices";
  EXPECT_EQ(shown.tasks[4].exit_code, 0);
  EXPECT_EQ(shown.tasks[3].exit_code, 143);
  EXPECT_EQ(shown.tasks[0].exit_code, std::nullopt);
  EXPECT_EQ(shown.tasks[1].last_failure->kind, FailureKind::out_of_memory);
  EXPECT_FALSE(shown.tasks[3].last_failure);
  EXPECT_THAT(shown.tasks[3].why, IsGolden());
  EXPECT_THAT(shown.tasks[1].why, AllOf(EndsWith(out_of_memory), IsGolden()));
}

TEST_F(CellViewTest, SaysWhatAJobWasSubmittedAs) {
  over(1, "ada", 2);
  history_.jobs.back().job = JobBuilder(1).tasks(2).build();
  history_.jobs.back().job.program.env = {{"A", "b"}};
  history_.jobs.back().job.program.argv = {"true"};
  history_.jobs.back().tasks.assign(2, {});
  history_.jobs.back().tasks[0].finished = true;
  history_.jobs.back().tasks[1].failed = true;
  const RequestView said = whole(view().request({JobId{1}}));
  EXPECT_EQ(said.job.program.env, history_.jobs.back().job.program.env);
  EXPECT_EQ(said.job.tasks.size(), 1U) << "the others are like it";
  EXPECT_TRUE(said.over);
  EXPECT_EQ(said.whole, 2U);
  ASSERT_EQ(said.tasks.size(), 2U);
  EXPECT_EQ(said.tasks[0].kind, TaskEnd::Kind::finished);
  EXPECT_EQ(said.tasks[1].kind, TaskEnd::Kind::failed);
  EXPECT_FALSE(whole(view().request({JobId{99}})).known);
}

TEST_F(CellViewTest, SaysWhyAJobFailedOrWasRefused) {
  over(1, "ada", 2);
  JobHistory& failed = history_.jobs.back();
  failed.job = JobBuilder(1).tasks(3).build();
  for (std::uint32_t i = 0; i < 3; ++i) failed.job.tasks[i].array_index = 10 + i;
  failed.outcome = JobOutcome::failed;
  failed.tasks.assign(3, {});
  failed.tasks[1].failures = 1;
  failed.tasks[2].failures = 5;
  failed.tasks[2].reason = "exit code 3";
  failed.tasks[2].failed = true;
  EXPECT_THAT(job(1).job.reason, Optional(AllOf(HasSubstr("task 12"), HasSubstr("5"),
                                                EndsWith("exit code 3"), IsGolden())));
  over(2, "ada", 2);
  JobHistory& refused = history_.jobs.back();
  refused.outcome = JobOutcome::refused;
  refused.tasks[0].reason = "never: fits no type (gpu: asked 16, available 8)";
  EXPECT_THAT(job(2).job.reason, Optional(AllOf(EndsWith(refused.tasks[0].reason), IsGolden())));
  over(3, "ada", 2);
  EXPECT_EQ(job(3).job.reason, std::nullopt);
}

}  // namespace
}  // namespace muster
