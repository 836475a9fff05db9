// The last decisions of a master, with what each did with which job and instance.
#include "masters/view/decision_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/masters/scripted_master.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::JobBuilder;

class DecisionLogs : public test::MasterTest {
 protected:
  /// Events since the last call go into the log.
  void watch() {
    const std::size_t before = events_.size();
    commit();
    const std::vector<Event> fresh(events_.begin() + static_cast<std::ptrdiff_t>(before),
                                   events_.end());
    log_.watch(fresh, master_->state());
  }
  void decide(Plan plan) {
    script_.plans.push_back(std::move(plan));
    master_->round({}, now());
    watch();
  }
  std::vector<DecisionView> decisions(const DecisionsQuestion& wanted = {}) const {
    return log_.view(wanted, "m0").decisions;
  }
  /// Three tasks on a new instance.
  void three_places() {
    ASSERT_EQ(master_->submit(JobBuilder(1).tasks(3).gang(false).build(), now()),
              SubmitResult::accepted);
    watch();
    decide(together({1, 101, 102}));
  }

  DecisionLog log_;
};

TEST_F(DecisionLogs, NameTheInstanceThatIsRentedAndTheTasksThatGoThere) {
  three_places();
  ASSERT_EQ(decisions().size(), 1U);
  const DecisionView one = decisions()[0];
  EXPECT_EQ(one.master, "m0");
  ASSERT_EQ(one.changes.size(), 2U) << "tasks of one job that go to one place are one change";
  EXPECT_EQ(one.changes[0].change, ChangeKind::rent);
  EXPECT_EQ(one.changes[0].instance, InstanceId{0});
  EXPECT_EQ(one.changes[0].instance_type, "it3");
  EXPECT_GT(one.changes[0].usd_h.value_or(0), 0);
  EXPECT_EQ(one.changes[1].change, ChangeKind::place);
  EXPECT_EQ(one.changes[1].job, JobId{1});
  EXPECT_EQ(one.changes[1].tasks, 3U);
  EXPECT_EQ(one.changes[1].task, 0U);
  EXPECT_EQ(one.changes[1].instance, InstanceId{0});
}

TEST_F(DecisionLogs, TellAMoveFromAPlace) {
  one_running(1);
  events_.clear();
  decide(together({1}));
  ASSERT_EQ(decisions().size(), 1U);
  const ChangeView moved = decisions()[0].changes.at(1);
  EXPECT_EQ(moved.change, ChangeKind::move);
  EXPECT_EQ(moved.from, InstanceId{0});
  EXPECT_EQ(moved.instance, InstanceId{1});
}

TEST_F(DecisionLogs, TellAPlaceWhereTheTaskStartsAtOnceFromARestart) {
  one_running(1);
  events_.clear();
  ASSERT_EQ(master_->submit(JobBuilder(2).demand(Resources::of(0, 0.1, 0.1)).build(), now()),
            SubmitResult::accepted);
  watch();
  Plan plan;
  plan.places.push_back({TaskId{2}, InstanceId{0}, {}});
  decide(std::move(plan));
  ASSERT_EQ(master_->state().find(TaskId{2})->phase, TaskPhase::starting);
  const ChangeView placed = decisions().at(0).changes.at(0);
  EXPECT_EQ(placed.change, ChangeKind::place);
  EXPECT_FALSE(placed.from.valid());
}

TEST_F(DecisionLogs, ShowThoseOfAJobOrAnInstanceOrALaterTime) {
  three_places();
  ASSERT_EQ(master_->submit(JobBuilder(9).build(), now()), SubmitResult::accepted);
  watch();
  decide(together({9}));
  ASSERT_EQ(decisions().size(), 2U);
  EXPECT_EQ(decisions({.most = 1}).size(), 1U);
  const auto of_job = decisions({.job = JobId{1}});
  ASSERT_EQ(of_job.size(), 1U);
  EXPECT_EQ(of_job[0].changes[1].job, JobId{1});
  const auto of_instance = decisions({.instance = InstanceId{1}});
  ASSERT_EQ(of_instance.size(), 1U);
  EXPECT_EQ(of_instance[0].changes[1].job, JobId{9});
  EXPECT_EQ(decisions({.since = decisions()[0].at}).size(), 1U);
  EXPECT_TRUE(decisions({.job = JobId{77}}).empty());
}

TEST_F(DecisionLogs, CountTheChangesBeyondTheirBound) {
  constexpr std::size_t kMost = DecisionLog::kMostChanges + DecisionLog::kMostJobs;
  const std::size_t jobs = kMost + 5;
  Plan plan;
  plan.launches.push_back({it3(), Market::on_demand, {}});
  for (std::uint64_t id = 1; id <= jobs; ++id) {
    ASSERT_EQ(master_->submit(JobBuilder(id).demand(Resources::of(0, 0.01, 0.01)).build(), now()),
              SubmitResult::accepted);
    plan.places.push_back({TaskId{id}, LaunchIndex{0}, {}});
  }
  watch();
  decide(std::move(plan));
  ASSERT_EQ(decisions().size(), 1U);
  EXPECT_EQ(decisions()[0].changes.size(), kMost);
  EXPECT_EQ(decisions()[0].changes_left_out + decisions()[0].changes.size(), jobs + 1);
}

TEST_F(DecisionLogs, NameEachJobAlsoOfARoundThatRentsManyInstances) {
  const std::uint32_t tasks = DecisionLog::kMostChanges + 10;
  ASSERT_EQ(master_->submit(JobBuilder(1).tasks(tasks).gang(false).build(), now()),
            SubmitResult::accepted);
  Plan plan;
  for (const JobRow& job : master_->state().jobs()) {
    for (const Slot slot : job.tasks) {
      plan.places.push_back({master_->state().task(slot).id,
                             LaunchIndex{static_cast<std::uint32_t>(plan.launches.size())},
                             {}});
      plan.launches.push_back({it3(), Market::on_demand, {}});
    }
  }
  watch();
  decide(std::move(plan));
  const auto of_job = decisions({.job = JobId{1}});
  ASSERT_EQ(of_job.size(), 1U);
  const DecisionView& one = of_job[0];
  EXPECT_EQ(one.launches, tasks);
  std::uint32_t rents = 0;
  std::uint32_t told = 0;
  for (const ChangeView& change : one.changes) {
    rents += change.change == ChangeKind::rent;
    told += change.tasks;
  }
  EXPECT_EQ(rents, DecisionLog::kMostOfInstances);
  EXPECT_EQ(told, tasks) << "of every task it is said which job it is of";
  EXPECT_EQ(one.changes_left_out, tasks - rents);
  EXPECT_FALSE(one.changes.back().instance.valid()) << "the last ones are on several instances";
  EXPECT_EQ(one.changes.size(), DecisionLog::kMostChanges + 1);
}

}  // namespace
}  // namespace muster
