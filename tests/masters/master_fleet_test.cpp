#include <gtest/gtest.h>

#include <algorithm>

#include "masters/master.hpp"
#include "tests/masters/scripted_master.hpp"

// What a master with a fixed fleet says to jobs that do not fit it.

namespace muster {
namespace {

using test::JobBuilder;
using test::MasterTest;

TEST_F(MasterTest, AGangThatIsLargerThanTheFixedFleetIsRefusedAtOnceWithBothNumbers) {
  make_master({}, {{it3(), Market::on_demand, 2}});
  EXPECT_EQ(master_->submit(JobBuilder(1).tasks(12).gang(true).build(), now()),
            SubmitResult::accepted);  // 24 cores
  commit();
  EXPECT_EQ(master_->state().find(JobId{1}), nullptr);
  const Refusal larger{RefusalKind::never, RefusalCode::fixed_fleet, Resource::cpu, 24, 16};
  std::size_t told = 0;
  for (const Event& event : events_) {
    const auto* e = std::get_if<TaskRefused>(&event.body);
    told += e != nullptr && e->refusal == larger ? 1 : 0;
  }
  EXPECT_EQ(told, 12U);
  EXPECT_EQ(std::get<JobFinished>(events_.back().body).outcome, JobOutcome::refused);
  settings_.rent_beyond_fleet = true;
  make_master({}, {{it3(), Market::on_demand, 2}});
  master_->submit(JobBuilder(2).tasks(12).gang(true).build(), now());
  EXPECT_NE(master_->state().find(JobId{2}), nullptr) << "more can be rented";
}

TEST_F(MasterTest, AGangThatIsLargerThanWhatIsLeftOfTheFleetIsToldSoWithBothNumbers) {
  make_master({}, {{it3(), Market::on_demand, 3}});
  master_->keep_fleet(now());
  commit();
  boot(0);
  boot(1);
  boot(2);
  master_->submit(JobBuilder(1).tasks(12).gang(true).build(), now());  // 24 cores
  EXPECT_TRUE(master_->evict(InstanceId{2}, CauseCode::drained, now()));
  commit();
  master_->instance_gone(InstanceId{2}, {}, now());
  Plan plan;
  const std::vector<Slot> tasks = master_->state().find(JobId{1})->tasks;
  for (Slot slot : tasks) {
    plan.places.push_back({master_->state().task(slot).id, InstanceId{0}, {}});
  }
  round(plan);
  const Refusal larger{RefusalKind::not_now, RefusalCode::fixed_fleet, Resource::cpu, 24, 16};
  for (Slot slot : tasks) EXPECT_EQ(master_->state().task(slot).reason, larger);
}

TEST_F(MasterTest, AGangThatFitsTheWholeFleetWaitsWhileAnInstanceOfItIsDrained) {
  make_master({}, {{it3(), Market::on_demand, 3}});
  master_->keep_fleet(now());
  commit();
  boot(0);
  boot(1);
  boot(2);
  EXPECT_TRUE(master_->evict(InstanceId{2}, CauseCode::drained, now()));
  commit();
  master_->submit(JobBuilder(1).tasks(12).gang(true).build(), now());  // 24 cores
  commit();
  ASSERT_NE(master_->state().find(JobId{1}), nullptr);
  EXPECT_EQ(master_->state().find(TaskId{1})->reason.kind, RefusalKind::not_now);
}

TEST_F(MasterTest, ATaskThatNoInstanceOfTheFixedFleetHoldsIsRefusedAtOnceWithBothNumbers) {
  make_master({}, {{it3(), Market::on_demand, 2}});
  master_->submit(JobBuilder(1).demand(Resources::of(0, 9, 1)).build(), now());
  commit();
  EXPECT_EQ(master_->state().find(JobId{1}), nullptr);
  const Refusal larger{RefusalKind::never, RefusalCode::fixed_fleet, Resource::cpu, 9, 8};
  const auto is_told = [&](const Event& event) {
    const auto* e = std::get_if<TaskRefused>(&event.body);
    return e != nullptr && e->refusal == larger;
  };
  EXPECT_EQ(std::count_if(events_.begin(), events_.end(), is_told), 1);
}

TEST_F(MasterTest, APolicyIsShownWhatCapsLeaveToRent) {
  make_master({});
  master_->submit(JobBuilder(1).build(), now());
  round({});
  EXPECT_FALSE(script_.left.instances) << "there is no cap";
  EXPECT_FALSE(script_.left.nano_usd_h);
  make_master({.max_instances = 3, .max_usd_h = 100});
  master_->submit(JobBuilder(1).build(), now());
  round(together({1}));
  EXPECT_EQ(script_.left.instances, 3U);
  master_->submit(JobBuilder(2).build(), now());
  round({});
  EXPECT_EQ(script_.left.instances, 2U);
  EXPECT_EQ(script_.left.nano_usd_h,
            Price::from_usd_h(100).nano_usd_h() - master_->state().sums().nano_usd_h);
}

TEST_F(MasterTest, CapsLeaveOutTheMastersOwnFleet) {
  settings_.rent_beyond_fleet = true;
  make_master({.max_instances = 3}, {{it3(), Market::on_demand, 2}});
  master_->keep_fleet(now());
  commit();
  round({});
  ASSERT_EQ(master_->state().instances().size(), 2U);
  EXPECT_EQ(script_.left.instances, 3U);
}

}  // namespace
}  // namespace muster
