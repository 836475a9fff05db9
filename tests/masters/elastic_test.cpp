// Elastic jobs: a plan gives them another width, and whatever of them runs starts again as one.

#include "masters/plan/plan_resizes.hpp"
#include "masters/view/cell_view.hpp"
#include "tests/masters/scripted_master.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::JobBuilder;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Workers demand 2 of the 8 CPUs and 4 of the 32 GiB of an it3; those of job 1 are the tasks 1,
/// 101, 102 and 103.
class ElasticJobs : public test::MasterTest {
 protected:
  const ClusterState& state() const { return master_->state(); }
  const TaskRow& task(std::uint64_t id) const { return *state().find(TaskId{id}); }
  const JobRow& job() const { return *state().find(JobId{1}); }

  /// The job waits as one worker of up to four; an instance is there.
  void begin() {
    ASSERT_EQ(master_->submit(JobBuilder(1).elastic(1, 4).build(), now()), SubmitResult::accepted);
    Plan plan;
    plan.launches.push_back({it3(), Market::on_demand, {}});
    round(plan);
    boot(0);
  }
  static Plan resized(std::uint32_t width, std::vector<std::uint64_t> placed = {}) {
    Plan plan;
    plan.resizes.push_back({JobId{1}, width, {CauseCode::width_plan, 0}});
    for (const std::uint64_t id : placed) {
      plan.places.push_back({TaskId{id}, InstanceId{0}, {CauseCode::width_plan, 0}});
    }
    return plan;
  }
  void run_all(const std::vector<std::uint64_t>& tasks, Attempt attempt) {
    for (const std::uint64_t id : tasks) started(id, attempt);
    commit();
  }
  std::vector<Effect> leave(const std::vector<std::uint64_t>& tasks, Attempt attempt) {
    for (const std::uint64_t id : tasks) {
      master_->task_checkpointed({TaskId{id}, attempt, {}, {}}, now());
    }
    return commit();
  }
  std::optional<Refusal> why_not(std::uint32_t width) {
    return why_not_resized(state(), {JobId{1}, width, {}}, {now(), {}});
  }
};

TEST_F(ElasticJobs, BeginAsTheirLeastWidthAndTheirOtherWorkersWaitForNothing) {
  begin();
  EXPECT_EQ(job().width, 1U);
  EXPECT_EQ(job().pending, 1U);
  EXPECT_EQ(task(103).phase, TaskPhase::capped);
  EXPECT_EQ(state().pending().size(), 1U);
}

TEST_F(ElasticJobs, GetAWidthAndTheirPlacesByOnePlanAndStartTogether) {
  begin();
  const auto effects = round(resized(3, {1, 101, 102}));
  EXPECT_EQ(count<StartTask>(effects), 3U);
  EXPECT_EQ(job().running_together(), 3U);
  run_all({1, 101, 102}, 1);
  EXPECT_EQ(job().running, 3U);
}

TEST_F(ElasticJobs, StopWhollyAndStartAgainAsMoreWorkers) {
  begin();
  round(resized(2, {1, 101}));
  run_all({1, 101}, 1);
  const auto effects = round(resized(4, {102, 103}));
  EXPECT_EQ(count<StopTask>(effects), 2U);
  EXPECT_EQ(count<StartTask>(effects), 0U) << "not beside workers that were told another number";
  EXPECT_EQ(count<StartTask>(leave({1}, 1)), 0U);
  EXPECT_EQ(count<StartTask>(leave({101}, 1)), 4U);
}

TEST_F(ElasticJobs, StopWhollyAndStartAgainAsFewerWorkers) {
  begin();
  round(resized(3, {1, 101, 102}));
  run_all({1, 101, 102}, 1);
  EXPECT_EQ(count<StopTask>(round(resized(1))), 3U);
  EXPECT_EQ(count<StartTask>(leave({1, 101}, 1)), 0U);
  EXPECT_EQ(count<StartTask>(leave({102}, 1)), 1U);
  EXPECT_EQ(task(101).phase, TaskPhase::capped);
  EXPECT_EQ(task(102).phase, TaskPhase::capped);
  EXPECT_EQ(state().find(InstanceId{0})->planned.size(), 1U);
}

TEST_F(ElasticJobs, AreOverWhenTheWorkersOfTheirWidthHaveFinished) {
  begin();
  round(resized(2, {1, 101}));
  run_all({1, 101}, 1);
  master_->task_finished({TaskId{1}, 1, {}}, now());
  EXPECT_EQ(why_not(4)->code, RefusalCode::in_transit) << "its end is near";
  master_->task_finished({TaskId{101}, 1, {}}, now());
  EXPECT_EQ(state().find(JobId{1}), nullptr);
}

TEST_F(ElasticJobs, AreNotOverByTheEndsOfWorkersThatTheyAreToLose) {
  begin();
  round(resized(4, {1, 101, 102, 103}));
  run_all({1, 101, 102, 103}, 1);
  round(resized(2));
  master_->task_finished({TaskId{102}, 1, {}}, now());
  master_->task_finished({TaskId{103}, 1, {}}, now());
  ASSERT_NE(state().find(JobId{1}), nullptr) << "the two of its width have not ended";
  master_->task_finished({TaskId{1}, 1, {}}, now());
  master_->task_finished({TaskId{101}, 1, {}}, now());
  EXPECT_EQ(state().find(JobId{1}), nullptr);
}

TEST_F(ElasticJobs, AreOverWhenTheLastWorkerThatTheyAreToLoseHasLeft) {
  begin();
  round(resized(2, {1, 101}));
  run_all({1, 101}, 1);
  round(resized(1));
  master_->task_finished({TaskId{1}, 1, {}}, now());
  ASSERT_NE(state().find(JobId{1}), nullptr) << "the other one still has its place";
  leave({101}, 1);
  EXPECT_EQ(state().find(JobId{1}), nullptr);
}

TEST_F(ElasticJobs, KeepRunningAsTheyDoWhileThereIsNoRoomForMore) {
  begin();
  round(resized(2, {1, 101}));
  run_all({1, 101}, 1);
  Plan plan = resized(4);
  plan.places.push_back({TaskId{102}, InstanceId{7}, {}});
  EXPECT_EQ(count<StopTask>(round(plan)), 0U);
  EXPECT_EQ(job().running, 2U);
  EXPECT_EQ(job().pending, 2U);
  EXPECT_EQ(count<StopTask>(round(resized(2))), 2U) << "back to what it was";
}

TEST_F(ElasticJobs, StartAgainWithAWorkerThatFailed) {
  begin();
  round(resized(2, {1, 101}));
  run_all({1, 101}, 1);
  master_->task_failed({TaskId{101}, 1, "broke", {}}, now());
  commit();
  Plan again;
  again.places.push_back({TaskId{101}, InstanceId{0}, {}});
  EXPECT_EQ(count<StopTask>(round(again)), 1U);
  EXPECT_EQ(count<StartTask>(leave({1}, 1)), 2U);
}

TEST_F(ElasticJobs, AreHeldAndReleasedAsWideAsTheyAre) {
  begin();
  round(resized(2));
  master_->hold(JobId{1}, true, now());
  EXPECT_EQ(job().held, 4U);
  const CellView view{*master_, nullptr, {}, "m", now()};
  EXPECT_EQ(view.job({JobId{1}}).view.job.held, 2U) << "nobody waits for the others";
  round(resized(3));
  master_->hold(JobId{1}, false, now());
  EXPECT_EQ(job().pending, 3U);
  EXPECT_EQ(job().capped, 1U);
}

TEST_F(ElasticJobs, AreRefusedAWidthWithItsReason) {
  begin();
  const auto because = [](RefusalCode code, double asked, double available) {
    return Refusal{RefusalKind::not_now, code, {}, asked, available};
  };
  EXPECT_EQ(why_not(0), because(RefusalCode::width_bounds, 0, 1));
  EXPECT_EQ(why_not(5), because(RefusalCode::width_bounds, 5, 4));
  EXPECT_EQ(why_not(1), because(RefusalCode::unchanged, 1, 0));
  round(resized(2, {1, 101}));
  EXPECT_EQ(why_not(3), because(RefusalCode::in_transit, 0, 0));
  ASSERT_EQ(master_->submit(JobBuilder(2).build(), now()), SubmitResult::accepted);
  EXPECT_EQ(why_not_resized(state(), {JobId{2}, 1, {}}, {})->code, RefusalCode::not_elastic);
  EXPECT_EQ(why_not_resized(state(), {JobId{9}, 1, {}}, {})->code, RefusalCode::outdated);
}

TEST_F(ElasticJobs, StayAsTheyAreForAsLongAsTheyHaveTo) {
  begin();
  round(resized(2, {1, 101}));
  run_all({1, 101}, 1);
  const StayRule an_hour{now(), std::chrono::hours{1}};
  EXPECT_EQ(why_not_resized(state(), {JobId{1}, 3, {}}, an_hour)->code, RefusalCode::min_stay);
}

TEST_F(ElasticJobs, ShowInADryRunWhatStartsAgainForAnother) {
  begin();
  round(resized(2, {1, 101}));
  run_all({1, 101}, 1);
  script_.plans.push_back(resized(1));
  const DryRun run = master_->dry_run(JobBuilder(2).build(), now());
  EXPECT_EQ(view_of(run, JobId{2}, "m").moves, 2U);
  EXPECT_EQ(job().width, 2U);
}

TEST_F(ElasticJobs, TellTheirProgressByTheirFirstWorkers) {
  begin();
  round(resized(2, {1, 101}));
  run_all({1, 101}, 1);
  ASSERT_EQ(master_->submit(JobBuilder(2).build(), now()), SubmitResult::accepted);
  EXPECT_TRUE(master_->note_measured({{}, 0, {{TaskId{101}, 9, {}}, {TaskId{1}, 7, {}}}}, now()));
  EXPECT_FALSE(master_->note_measured({{}, 0, {{TaskId{2}, 5, {}}}}, now())) << "it is not elastic";
  commit();
  const auto* told = std::get_if<Measured>(&events_.back().body);
  ASSERT_NE(told, nullptr);
  ASSERT_EQ(told->progress.size(), 1U);
  EXPECT_EQ(told->progress[0].done, 7);
}

TEST_F(ElasticJobs, AreToldOnHowManyInstancesTheirStepsWereMadeWhereWorkersDoNotKnow) {
  begin();
  Plan plan = resized(2, {1});
  plan.launches.push_back({it3(), Market::on_demand, {}});
  plan.places.push_back({TaskId{101}, LaunchIndex{0}, {}});
  round(plan);
  boot(1);
  run_all({1, 101}, 1);
  TrainingSample step{0, 2, 32, 0, 0.5, 0.1, 1, 2};
  EXPECT_EQ(master_->of_elastic_jobs({{TaskId{1}, 7, step}})[0].training->nodes, 2U);
  step.nodes = 1;
  EXPECT_EQ(master_->of_elastic_jobs({{TaskId{1}, 7, step}})[0].training->nodes, 1U);
}

TEST_F(ElasticJobs, AreShownWithTheirWidthAndNobodyWaitsForTheRestOfTheirWorkers) {
  begin();
  round(resized(2, {1, 101}));
  run_all({1, 101}, 1);
  master_->note_measured({{}, 0, {{TaskId{1}, 7, {}}}}, now());
  const CellView view{*master_, nullptr, {}, "m", now()};
  const JobDetails shown = view.job({JobId{1}, true}).view;
  ASSERT_TRUE(shown.job.elastic.has_value());
  EXPECT_EQ(shown.job.elastic->least, 1U);
  EXPECT_EQ(shown.job.elastic->most, 4U);
  EXPECT_EQ(shown.job.elastic->width, 2U);
  EXPECT_EQ(shown.job.elastic->done, 7);
  EXPECT_FALSE(shown.job.reason.has_value());
  EXPECT_THAT(shown.tasks[3].why, AllOf(HasSubstr("2 workers"), IsGolden()));
  const CellFigures figures = view.figures();
  EXPECT_EQ(figures.waiting_tasks(), 0U);
  EXPECT_EQ(figures.elastic_jobs, 1U);
  EXPECT_EQ(figures.elastic_workers, 2U);
  round(resized(1));
  EXPECT_EQ(state().work().widths, 1U);
  EXPECT_EQ(state().work().beyond_width, 2U) << "the third one has still to leave";
  leave({1, 101}, 1);
  EXPECT_EQ(state().work().beyond_width, 3U);
}

}  // namespace
}  // namespace muster
