#include "masters/plan/plan_application.hpp"

#include "tests/masters/master_commands.hpp"

namespace muster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PlanApplicationTest : public test::MasterCommandsTest {
 protected:
  PlanApplicationTest() { make(); }
  void make() {
    begin_commands();
    guard_.emplace(*recorder_, *cloud_, settings_.caps);
    rules_.emplace(*recorder_, *cloud_, *guard_, settings_);
    ends_.emplace(*recorder_, *tasks_, settings_, false);
    services_.emplace(*recorder_, *tasks_, *releases_, *ends_);
    application_.emplace(commands(), PlanApplication::Parts{*ends_, *rules_, *services_});
  }
  /// The commit of the plan alone.
  Commit apply(Plan plan) {
    forget();
    std::vector<Plan> slices;
    slices.push_back(std::move(plan));
    application_->take(std::move(slices));
    application_->apply_next(now());
    return recorder_->commit();
  }
  static Place to(std::uint64_t task, std::uint64_t instance) {
    return {TaskId{task}, InstanceId{instance}, {}};
  }
  template <class Wanted>
  static std::vector<Wanted> of(const Commit& commit) {
    std::vector<Wanted> found;
    for (const Event& event : commit.events) {
      if (const auto* body = std::get_if<Wanted>(&event.body)) found.push_back(*body);
    }
    return found;
  }

  std::optional<SpendGuard> guard_;
  std::optional<PlanRules> rules_;
  std::optional<JobEnds> ends_;
  std::optional<Services> services_;
  std::optional<PlanApplication> application_;
};

TEST_F(PlanApplicationTest, WhatIsLaunchedIsWhereItsTasksAreAssigned) {
  submit(1);
  Plan plan;
  plan.launches.push_back({it4(), Market::on_demand, {}});
  plan.places.push_back({TaskId{1}, LaunchIndex{0}, {}});
  const Commit commit = apply(std::move(plan));
  ASSERT_EQ(commit.events.size(), 2U);
  const InstanceId launched = std::get<LaunchRequested>(commit.events[0].body).instance;
  EXPECT_EQ(std::get<TaskAssigned>(commit.events[1].body).to, launched);
}

TEST_F(PlanApplicationTest, WhatDoesNotFitIsRefusedAndToldToTheTask) {
  ready(0);  // 4 cores
  for (const std::uint64_t id : {1, 2, 3}) submit(id);
  Plan plan;
  for (const std::uint64_t id : {1, 2, 3}) plan.places.push_back(to(id, 0));
  const Commit commit = apply(std::move(plan));
  EXPECT_EQ(of<TaskAssigned>(commit).size(), 2U);
  const auto refused = of<PlanPartRefused>(commit);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].task, TaskId{3});
  EXPECT_EQ(task(3).reason.code, RefusalCode::over_capacity);
}

TEST_F(PlanApplicationTest, AnArrayThatWaitsForRoomIsNotRefusedTheSameAgain) {
  ready(0);
  submit(1, 3, false);
  Plan plan;
  for (const std::uint64_t id : {1, 101, 102}) plan.places.push_back(to(id, 0));
  EXPECT_EQ(of<PlanPartRefused>(apply(plan)).size(), 1U);
  plan.places = {plan.places.back()};
  EXPECT_THAT(apply(plan).events, IsEmpty());
}

TEST_F(PlanApplicationTest, WhatCanNeverRunTakesItsJobWithIt) {
  submit(1);
  const Refusal never{RefusalKind::never, RefusalCode::fits_no_type, Resource::cpu, 99, 8};
  Plan plan;
  plan.refusals.push_back({TaskId{1}, never});
  const auto over = of<JobFinished>(apply(std::move(plan)));
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].outcome, JobOutcome::refused);
}

TEST_F(PlanApplicationTest, AConstraintThatNoTypeMeetsAnyMoreEndsNoJobThatHasBegun) {
  const Refusal barred{RefusalKind::never, RefusalCode::constraint, {}, 0, 0};
  ready(0);
  submit(1, 2, false);
  submit(2);
  Plan plan;
  plan.places.push_back(to(1, 0));
  apply(std::move(plan));
  Plan again;
  again.refusals = {{TaskId{101}, barred}, {TaskId{2}, barred}};
  const auto over = of<JobFinished>(apply(std::move(again)));
  ASSERT_EQ(over.size(), 1U) << "the one that has not begun";
  EXPECT_EQ(over[0].job, JobId{2});
  EXPECT_EQ(task(101).reason, barred) << "and it waits";
}

TEST_F(PlanApplicationTest, AMalformedRefusalIsRefusedItself) {
  submit(1);
  Refusal odd{RefusalKind::never, RefusalCode::fits_no_type, Resource::cpu, 99, 8};
  odd.asked = std::numeric_limits<double>::quiet_NaN();
  Plan plan;
  plan.refusals.push_back({TaskId{1}, odd});
  const Commit commit = apply(std::move(plan));
  EXPECT_EQ(of<PlanPartRefused>(commit).size(), 1U);
  EXPECT_THAT(of<JobFinished>(commit), IsEmpty());
}

TEST_F(PlanApplicationTest, WhenOneOfAGangMovesItsPeersStartAgain) {
  ready(0);
  ready(1);
  submit(1, 2);
  run(1, 0);
  run(101, 0);
  Plan plan;
  plan.places.push_back(to(1, 1));
  const Commit commit = apply(std::move(plan));
  EXPECT_EQ(of<StopIssued>(commit).size(), 2U);
  EXPECT_EQ(of<TaskAssigned>(commit).back().cause.code, CauseCode::gang_restart);
}

TEST_F(PlanApplicationTest, StopsAndReleasesAreSetAbout) {
  ready(0);
  ready(1);
  submit(1);
  run(1, 0);
  Plan plan;
  plan.stops.push_back({TaskId{1}, {}});
  plan.stops.push_back({TaskId{9}, {}});
  plan.releases.push_back({InstanceId{1}, {}});
  plan.releases.push_back({InstanceId{9}, {}});
  const Commit commit = apply(std::move(plan));
  EXPECT_EQ(of<TaskUnassigned>(commit).size(), 1U);
  EXPECT_EQ(of<ReleaseDecided>(commit).size(), 1U);
  EXPECT_EQ(of<PlanPartRefused>(commit).size(), 2U) << "there is no such task or instance";
}

TEST_F(PlanApplicationTest, WhatWasKeptForATaskThatIsRefusedIsGivenBack) {
  settings_.min_stay = std::chrono::hours{1};
  make();
  ready(0);
  ready(1);
  submit(1);
  run(1, 0);
  Plan plan;
  plan.places.push_back(to(1, 1));
  const Commit commit = apply(std::move(plan));
  EXPECT_THAT(of<TaskAssigned>(commit), IsEmpty());
  const auto released = of<ReleaseDecided>(commit);
  ASSERT_EQ(released.size(), 1U);
  EXPECT_EQ(released[0].instance, InstanceId{1});
}

TEST_F(PlanApplicationTest, EachSliceIsHeldAgainstTheStateOfThen) {
  ready(0);
  submit(1);
  submit(2);
  Plan first, second;
  first.places.push_back(to(1, 0));
  second.places.push_back(to(2, 0));
  std::vector<Plan> slices;
  slices.push_back(std::move(first));
  slices.push_back(std::move(second));
  application_->take(std::move(slices));
  EXPECT_EQ(application_->slices_left(), 2U);
  application_->apply_next(now());
  EXPECT_EQ(application_->slices_left(), 1U);
  happen(InstanceGone{InstanceId{0}, {}, CloudReason::not_said});
  forget();
  application_->apply_next(now());
  const auto refused = events<PlanPartRefused>();
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].refusal.code, RefusalCode::outdated);
  application_->apply_next(now());
  EXPECT_THAT(recorder_->commit().events, IsEmpty()) << "there is none left";
}

TEST_F(PlanApplicationTest, AnInstanceOnWhichAReplicaStaysIsNotReleased) {
  ready(0);
  ready(1);
  Job job = test::JobBuilder(1).tasks(2).gang(false).build();
  ServiceSpec spec;
  spec.replicas = 1;
  job.kind = spec;
  happen(JobAccepted{job});
  run(1, 0);
  // The other instance is full: the replica's stand-in could not start there.
  submit(2);
  const Grant all{catalog_[it4()].capacity};
  happen(TaskAssigned{TaskId{2}, InstanceId{1}, {}, all});
  happen(StartIssued{TaskId{2}, InstanceId{1}, 1, all});
  happen(TaskUnassigned{TaskId{2}, {}});
  Plan plan;
  plan.places.push_back(to(1, 1));
  plan.releases.push_back({InstanceId{0}, {}});
  const Commit done = apply(std::move(plan));
  EXPECT_EQ(task(1).target, task(1).at);
  EXPECT_FALSE(state().find(InstanceId{0})->released);
}

TEST_F(PlanApplicationTest, AReplicaThatGetsAnotherSizeStaysUntilAnotherOneStandsBesideIt) {
  settings_.min_stay = std::chrono::hours{1};  // for tasks that lose by a move
  make();
  ready(0);
  Job job = test::JobBuilder(1).tasks(3).demand(Resources::of(0, 2, 2)).gang(false).build();
  ServiceSpec spec;
  spec.replicas = 1;
  spec.size = {.least_cpus = 0.5, .least_memory_gib = 0.5};
  job.kind = spec;
  happen(JobAccepted{job});
  run(1, 0);
  ReplicaState ready;
  ready.ready = true;
  happen(ReplicaChanged{TaskId{1}, 1, ready});
  const auto resized = [&](double amount) {
    Plan plan;
    plan.places.push_back(to(1, 0));
    plan.places.back().grant = Grant::of(Resources::of(0, amount, amount));
    return of<TaskAssigned>(apply(std::move(plan)));
  };
  EXPECT_THAT(resized(3), IsEmpty()) << "there is no room for both";
  const auto assigned = resized(1);
  ASSERT_EQ(assigned.size(), 1U);
  EXPECT_EQ(assigned[0].task, job.tasks[1].id);
  EXPECT_EQ(assigned[0].grant, Grant::of(Resources::of(0, 1, 1)));
  EXPECT_EQ(task(1).phase, TaskPhase::running);
  EXPECT_FALSE(task(1).wanted);
}

TEST_F(PlanApplicationTest, NobodyIsGivenTheRoomOfAReplicaThatCannotLeaveIt) {
  ready(0);
  ready(1);
  ready(2);
  Job job = test::JobBuilder(1).tasks(2).gang(false).build();
  ServiceSpec spec;
  spec.replicas = 1;
  job.kind = spec;
  happen(JobAccepted{job});
  run(1, 0);
  submit(2);
  const auto plan = [&](std::uint64_t elsewhere) {
    Plan plan;
    plan.places.push_back(to(1, elsewhere));
    plan.places.push_back(to(2, 0));
    plan.places.back().grant = Grant{catalog_[state().find(InstanceId{0})->type].capacity};
    return plan;
  };
  happen(ReplicaWanted{job.tasks[1].id, true, {}});  // no task is left to stand in for another one
  EXPECT_THAT(of<TaskAssigned>(apply(plan(1))), IsEmpty());
  EXPECT_EQ(task(1).target, task(1).at);
  happen(ReplicaWanted{job.tasks[1].id, false, {}});
  // The instance that was left without a task is on its way back.
  const auto assigned = of<TaskAssigned>(apply(plan(2)));
  ASSERT_EQ(assigned.size(), 2U);
  EXPECT_EQ(assigned[0].task, job.tasks[1].id);
  EXPECT_EQ(assigned[1].task, TaskId{2});
}

}  // namespace
}  // namespace muster
