// What a plan wants all or none of, whole jobs, and elastic jobs that get another width.

#include "masters/cell_view.hpp"
#include "masters/plan_check.hpp"
#include "model/whole_job.hpp"
#include "tests/masters/scripted_master.hpp"

namespace muster {
namespace {

using test::JobBuilder;

class PlanGroups : public test::MasterTest {
 protected:
  const ClusterState& state() const { return master_->state(); }
  const TaskRow& task(std::uint64_t id) const { return *state().find(TaskId{id}); }
  const InstanceRow& instance(std::uint64_t id) const { return *state().find(InstanceId{id}); }
  const JobRow& job(std::uint64_t id) const { return *state().find(JobId{id}); }

  /// Rents an instance for nobody.
  void rent(std::uint64_t id) {
    Plan plan;
    plan.launches.push_back({it3(), Market::on_demand, {}});
    round(plan);
    boot(id);
  }
  /// Each worker demands 2 of the 8 CPUs and 4 of the 32 GiB of an it3.
  void submit_elastic(std::uint64_t id, std::uint32_t least, std::uint32_t most) {
    Job job = JobBuilder(id).build();
    job.kind = ElasticSpec{least, most, {}};
    ASSERT_EQ(master_->submit(job, now()), SubmitResult::accepted);
  }
  static Grant workers(std::uint32_t width) {
    return {Resources::of(0, 2 * width, 4 * width), width};
  }
  static Plan resized(std::uint64_t job, std::uint32_t width, std::uint32_t group = 0) {
    Plan plan;
    plan.resizes.push_back({JobId{job}, width, {CauseCode::packed, 0}, {}, group});
    return plan;
  }
  static Place put(std::uint64_t task, std::uint64_t on, std::uint32_t group = 0) {
    return {TaskId{task}, InstanceId{on}, {}, {}, {}, group};
  }
  CheckedPlan check(const Plan& plan) const { return check_plan(plan, state(), limits()); }
  PlanLimits limits() const {
    PlanLimits limits;
    limits.stay.now = test::at_s(clock_s_);
    return limits;
  }
  /// The job runs with that width on instance `on`.
  void run_elastic(std::uint64_t id, std::uint64_t on, std::uint32_t width) {
    Plan plan;
    plan.places = {put(id, on)};
    plan.places[0].grant = workers(width);
    round(plan);
    started(id, 1);
    commit();
  }
  /// The attempt has saved its checkpoint; what starts at once is said to have started.
  void leaves_and_starts(std::uint64_t id, Attempt attempt) {
    master_->task_checkpointed({TaskId{id}, attempt, {}, {}}, now());
    EXPECT_EQ(count<StartTask>(commit()), 1U);
    started(id, attempt + 1);
    commit();
  }
};

TEST_F(PlanGroups, AnElasticJobIsPlacedWithTwoWorkersThenHasFourAndTwoAgain) {
  submit_elastic(1, 1, 4);
  rent(0);
  run_elastic(1, 0, 2);
  EXPECT_EQ(task(1).held, workers(2));
  const std::vector<Effect> effects = round(resized(1, 4));
  EXPECT_EQ(count<StopTask>(effects), 1U) << "a running task is started anew";
  EXPECT_EQ(instance(0).committed, workers(4).amount);
  EXPECT_EQ(instance(0).used, workers(2).amount) << "until it has left";
  leaves_and_starts(1, 1);
  EXPECT_EQ(task(1).held, workers(4));
  EXPECT_EQ(instance(0).used, workers(4).amount);
  round(resized(1, 2));
  leaves_and_starts(1, 2);
  EXPECT_EQ(task(1).held, workers(2));
  EXPECT_EQ(state().instances().size(), 1U);
}

TEST_F(PlanGroups, AJobThatHasAPlaceAndDoesNotRunYetIsGivenAnotherWidthThere) {
  submit_elastic(1, 1, 4);
  round(together({1}));
  EXPECT_EQ(task(1).planned, workers(1));
  EXPECT_EQ(count<StopTask>(round(resized(1, 3))), 0U);
  EXPECT_EQ(task(1).planned, workers(3));
  EXPECT_EQ(count<StartTask>(boot(0)), 1U);
  EXPECT_EQ(task(1).held, workers(3));
}

TEST_F(PlanGroups, ADryRunCountsAResizeThatRestartsATaskAmongTheMoves) {
  submit_elastic(1, 1, 4);
  rent(0);
  run_elastic(1, 0, 2);
  for (const std::uint32_t width : {3, 5}) {
    script_.plans.push_back(resized(1, width));
    const DryRun run = master_->dry_run(JobBuilder(2).build(), now());
    EXPECT_EQ(view_of(run, JobId{2}, "m").moves, width == 3 ? 1U : 0U) << "5 do not fit";
  }
}

TEST_F(PlanGroups, AResizeIsRefusedWithItsReason) {
  submit_elastic(1, 2, 9);
  rent(0);
  submit_elastic(2, 1, 4);
  ASSERT_EQ(master_->submit(JobBuilder(3).build(), now()), SubmitResult::accepted);
  run_elastic(1, 0, 2);
  const auto refusal = [&](std::uint64_t job, std::uint32_t width) {
    return check(resized(job, width)).resizes[0].value_or(Refusal{});
  };
  const auto because = [](RefusalCode code, double asked, double available) {
    return Refusal{RefusalKind::not_now, code, {}, asked, available};
  };
  EXPECT_EQ(refusal(1, 1), because(RefusalCode::width_bounds, 1, 2));
  EXPECT_EQ(refusal(1, 10), because(RefusalCode::width_bounds, 10, 9));
  EXPECT_EQ(refusal(1, 2), because(RefusalCode::unchanged, 2, 0));
  EXPECT_EQ(refusal(2, 2), because(RefusalCode::no_place, 0, 0));
  EXPECT_EQ(refusal(3, 1), because(RefusalCode::not_elastic, 0, 0));
  EXPECT_EQ(refusal(9, 1), because(RefusalCode::outdated, 0, 0));
  EXPECT_EQ(refusal(1, 5),
            (Refusal{RefusalKind::not_now, RefusalCode::over_capacity, Resource::cpu, 10, 8}));
  Plan plan = resized(1, 3);
  plan.resizes[0].expects = 7;
  EXPECT_EQ(check(plan).resizes[0]->code, RefusalCode::outdated);
}

TEST_F(PlanGroups, AJobThatStaysIsNotResized) {
  submit_elastic(1, 1, 4);
  rent(0);
  run_elastic(1, 0, 2);
  PlanLimits staying = limits();
  staying.stay.min_stay = std::chrono::hours{1};
  const CheckedPlan checked = check_plan(resized(1, 3), state(), staying);
  EXPECT_EQ(checked.resizes[0]->code, RefusalCode::min_stay);
}

TEST_F(PlanGroups, AResizeTakesItsRoomFromWhatThePlanLeavesAndARefusedOneKeepsItsOwn) {
  submit_elastic(1, 1, 4);
  submit_elastic(2, 1, 4);
  rent(0);
  run_elastic(1, 0, 2);
  Plan plan = resized(1, 3);
  plan.places = {put(2, 0)};
  plan.places[0].grant = workers(2);
  CheckedPlan checked = check(plan);
  EXPECT_FALSE(checked.places[0].has_value());
  EXPECT_EQ(checked.resizes[0]->code, RefusalCode::over_capacity);
  plan.resizes[0].width = 1;
  plan.places[0].grant = workers(3);
  checked = check(plan);
  EXPECT_FALSE(checked.places[0].has_value()) << "what shrinks makes room";
  EXPECT_FALSE(checked.resizes[0].has_value());
}

TEST_F(PlanGroups, OneJobShrinksForAnotherToGrowOrNeitherDoes) {
  submit_elastic(1, 1, 3);
  submit_elastic(2, 1, 4);
  rent(0);
  run_elastic(1, 0, 2);
  run_elastic(2, 0, 2);
  Plan plan = resized(1, 1, 5);
  plan.resizes.push_back({JobId{2}, 4, {}, {}, 5});
  CheckedPlan checked = check(plan);
  EXPECT_EQ(checked.resizes[0]->code, RefusalCode::group_refused);
  EXPECT_EQ(checked.resizes[1]->code, RefusalCode::over_capacity) << "the part in the way says why";
  plan.resizes[1].width = 3;
  checked = check(plan);
  EXPECT_FALSE(checked.resizes[0].has_value());
  EXPECT_FALSE(checked.resizes[1].has_value());
}

TEST_F(PlanGroups, TheReplicasOfAServiceAreAllPlacedOrNone) {
  Job service = JobBuilder(1).tasks(3).gang(false).demand(Resources::of(0, 4, 4)).build();
  service.kind = ServiceSpec{3, 0, {}};
  ASSERT_EQ(master_->submit(service, now()), SubmitResult::accepted);
  rent(0);
  const std::vector<PlaceTarget> one(3, InstanceId{0});
  Plan plan;
  EXPECT_EQ(place_job(plan, state(), {job(1), {}}, one), 1U);
  round(plan);
  for (std::uint64_t id : {1, 101, 102}) EXPECT_EQ(task(id).phase, TaskPhase::pending) << id;
  EXPECT_EQ(task(1).reason.code, RefusalCode::group_refused);
  EXPECT_EQ(task(102).reason.code, RefusalCode::over_capacity);
  plan = {};
  plan.launches.push_back({it3(), Market::on_demand, {}});
  place_job(plan, state(), {job(1), {}},
            std::vector<PlaceTarget>{InstanceId{0}, InstanceId{0}, LaunchIndex{0}});
  // The one instance without a task was given back when the first plan had none for it.
  EXPECT_TRUE(instance(0).released);
  for (Place& place : plan.places) place.to = LaunchIndex{0};
  plan.launches.push_back(plan.launches[0]);
  plan.places[2].to = LaunchIndex{1};
  round(plan);
  for (std::uint64_t id : {1, 101, 102}) EXPECT_EQ(task(id).phase, TaskPhase::assigned) << id;
}

TEST_F(PlanGroups, AGangIsStoppedAndStartedInOneOperationEach) {
  one_running(1, 2);
  Plan plan;
  EXPECT_EQ(stop_job(plan, state(), {job(1), {CauseCode::evicted, 0}}), 1U);
  EXPECT_EQ(count<StopTask>(round(plan)), 2U);
  for (std::uint64_t id : {1, 101}) {
    master_->task_checkpointed({TaskId{id}, 1, {}, {}}, now());
    EXPECT_EQ(task(id).phase, TaskPhase::pending);
  }
  commit();
  plan = {};
  place_job(plan, state(), {job(1), {}}, std::vector<PlaceTarget>(2, InstanceId{0}));
  EXPECT_EQ(count<StartTask>(round(plan)), 2U);
  started(1, 2);
  started(101, 2);
  commit();
  plan = {};
  EXPECT_EQ(restart_job(plan, state(), {job(1), {CauseCode::gang_restart, 0}}), 1U);
  EXPECT_EQ(count<StopTask>(round(plan)), 2U);
  master_->task_checkpointed({TaskId{1}, 2, {}, {}}, now());
  EXPECT_EQ(count<StartTask>(commit()), 0U) << "its peer has still to leave";
  master_->task_checkpointed({TaskId{101}, 2, {}, {}}, now());
  EXPECT_EQ(count<StartTask>(commit()), 2U);
}

TEST_F(PlanGroups, ATaskOnItsWayKeepsAllOfItsJobFromBeingStopped) {
  ASSERT_EQ(master_->submit(JobBuilder(1).tasks(2).gang(false).build(), now()),
            SubmitResult::accepted);
  round(together({1, 101}));
  boot(0);
  started(1, 1);  // 101 is starting
  commit();
  Plan plan;
  stop_job(plan, state(), {job(1), {}});
  EXPECT_EQ(count<StopTask>(round(plan)), 0U);
  EXPECT_EQ(task(1).phase, TaskPhase::running);
  EXPECT_NE(task(1).target, kNoSlot);
}

TEST_F(PlanGroups, ATaskDoesNotLoseItsPlaceToASuccessorThatIsRefused) {
  one_running(1);
  ASSERT_EQ(master_->submit(JobBuilder(2).demand(Resources::of(0, 9, 4)).build(), now()),
            SubmitResult::accepted);
  Plan plan;
  plan.stops = {{TaskId{1}, {}, {}, 4}};
  plan.places = {put(2, 0, 4)};
  plan.releases = {{InstanceId{0}, {}, 4}};
  const CheckedPlan checked = check(plan);
  EXPECT_EQ(checked.stops[0]->code, RefusalCode::group_refused);
  EXPECT_EQ(checked.releases[0]->code, RefusalCode::group_refused);
  EXPECT_EQ(checked.places[0]->code, RefusalCode::over_capacity);
  EXPECT_EQ(count<StopTask>(round(plan)), 0U);
}

TEST_F(PlanGroups, ALaunchOfAGroupIsMadeOnlyWithAllOfIt) {
  one_running(1);
  ASSERT_EQ(master_->submit(JobBuilder(2).gang(false).build(), now()), SubmitResult::accepted);
  Plan plan;
  plan.launches = {{it3(), Market::on_demand, {}}};
  plan.launches[0].group = 2;
  plan.places = {{TaskId{2}, LaunchIndex{0}, {}}};
  plan.releases = {{InstanceId{0}, {}, 2}};  // where 1 stays
  const CheckedPlan checked = check(plan);
  EXPECT_EQ(checked.launches[0]->code, RefusalCode::group_refused);
  EXPECT_EQ(checked.places[0]->code, RefusalCode::group_refused) << "it needs the launch";
  EXPECT_EQ(checked.releases[0]->code, RefusalCode::outdated);
}

TEST_F(PlanGroups, TheCapThatRefusesAGroupIsNamedAndItsRoomGoesToOthers) {
  one_running(1);
  ASSERT_EQ(master_->submit(JobBuilder(2).build(), now()), SubmitResult::accepted);
  ASSERT_EQ(master_->submit(JobBuilder(3).build(), now()), SubmitResult::accepted);
  Plan plan;
  plan.launches.assign(3, {it3(), Market::on_demand, {}});
  plan.places = {{TaskId{1}, LaunchIndex{0}, {}, {}, {}, 1},
                 {TaskId{2}, LaunchIndex{1}, {}, {}, {}, 1},
                 {TaskId{3}, LaunchIndex{2}, {}}};
  PlanLimits capped = limits();
  capped.caps.max_instances = 2;
  const CheckedPlan checked = check_plan(plan, state(), capped);
  EXPECT_EQ(checked.places[0]->code, RefusalCode::instance_cap);
  EXPECT_EQ(checked.places[1]->code, RefusalCode::instance_cap);
  EXPECT_FALSE(checked.places[2].has_value());
  EXPECT_TRUE(checked.launched(2));
}

TEST_F(PlanGroups, AGangWithAPlaceInAGroupIsOneWithIt) {
  ASSERT_EQ(master_->submit(JobBuilder(1).tasks(2).build(), now()), SubmitResult::accepted);
  rent(0);
  ASSERT_EQ(master_->submit(JobBuilder(2).demand(Resources::of(0, 6, 4)).build(), now()),
            SubmitResult::accepted);
  Plan plan;
  plan.places = {put(1, 0, 1), put(101, 0), put(2, 0, 1)};
  const CheckedPlan checked = check(plan);
  EXPECT_EQ(checked.places[0]->code, RefusalCode::group_refused);
  EXPECT_EQ(checked.places[1]->code, RefusalCode::awaiting_peers);
  EXPECT_EQ(checked.places[2]->code, RefusalCode::over_capacity);
}

}  // namespace
}  // namespace muster
