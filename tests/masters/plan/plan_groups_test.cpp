// What a plan wants all or none of, and whole jobs.

#include "masters/plan/plan_check.hpp"
#include "masters/view/cell_view.hpp"
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
  static Place put(std::uint64_t task, std::uint64_t on, std::uint32_t group = 0) {
    return {TaskId{task}, InstanceId{on}, {}, {}, {}, group};
  }
  CheckedPlan check(const Plan& plan) const { return check_plan(plan, state(), limits()); }
  PlanLimits limits() const {
    PlanLimits limits;
    limits.stay.now = test::at_s(clock_s_);
    return limits;
  }
};

TEST_F(PlanGroups, ThePlacesOfAJobThatIsNoGangAreAllTakenOrNone) {
  const Job three = JobBuilder(1).tasks(3).gang(false).demand(Resources::of(0, 4, 4)).build();
  ASSERT_EQ(master_->submit(three, now()), SubmitResult::accepted);
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
