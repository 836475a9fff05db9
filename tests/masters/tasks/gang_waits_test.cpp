#include "masters/tasks/gang_waits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::at_s;
using testing::ElementsAre;
using testing::IsEmpty;

/// A state and what its gangs wait for: both are told each event.
class GangWaitsTest : public ::testing::Test {
 protected:
  void begin(bool fixed_fleet = false, std::uint32_t max_instances = 4) {
    MasterSettings settings;
    settings.caps.max_instances = max_instances;
    settings.gangs = {60s, 30s, 600s};
    settings.launch_backoff = 10s;
    waits_.emplace(settings, fixed_fleet);
  }
  void happen(double seconds, EventBody body) {
    const Event event{at_s(seconds), std::move(body)};
    waits_->absorb(event, state_);
    state_.apply(event);
  }
  void gang(std::uint64_t id) { happen(0, JobAccepted{test::JobBuilder(id).tasks(2).build()}); }
  void single(std::uint64_t id) { happen(0, JobAccepted{test::JobBuilder(id).build()}); }
  void ready(double seconds, std::uint64_t id, const std::string& type = "it4") {
    happen(seconds, LaunchRequested{InstanceId{id}, test::type_named(catalog_, type), {}, {}, {}});
    happen(seconds, InstanceUp{InstanceId{id}});
    happen(seconds, InstanceReady{InstanceId{id}});
  }
  /// The first task of the job is refused an instance beyond the cap, of so many that it needs.
  void refuse(double seconds, std::uint64_t job, double asked = 3) {
    happen(seconds, PlanPartRefused{
                        TaskId{job},
                        {},
                        {RefusalKind::not_now, RefusalCode::instance_cap, {}, asked, asked - 1}});
  }
  /// The cloud does not give the instance that was meant for the job.
  void cloud_refuses(double seconds, std::uint64_t job, std::uint64_t instance) {
    const InstanceId id{instance};
    happen(seconds, LaunchRequested{id, test::type_named(catalog_, "it4"), {}, {}, {}});
    happen(seconds, TaskAssigned{TaskId{job}, id, {}, Grant{Resources::of(0, 2, 4)}});
    happen(seconds,
           LaunchRefused{id, {RefusalKind::not_now, RefusalCode::cloud_capacity, {}, 1, 0}});
  }
  std::vector<JobId> backed_off(double seconds, std::uint64_t round = 0) const {
    return waits_->backed_off(state_, round, at_s(seconds));
  }
  std::optional<GangTurn> due(double seconds) const { return waits_->due(state_, at_s(seconds)); }

  Catalog catalog_ = test::table3_catalog();
  ClusterState state_{catalog_};
  std::optional<GangWaits> waits_;
};

TEST_F(GangWaitsTest, AGangThatIsTooLargeForACapRestsTwiceAsLongEachTime) {
  begin();
  gang(1);
  refuse(100, 1, 9);
  EXPECT_THAT(backed_off(119), ElementsAre(JobId{1}));
  EXPECT_THAT(backed_off(121), IsEmpty());
  refuse(121, 1, 9);
  EXPECT_THAT(backed_off(160), ElementsAre(JobId{1}));
  EXPECT_THAT(backed_off(162), IsEmpty());
  EXPECT_EQ(waits_->refusals(JobId{1}), 2u);
}

TEST_F(GangWaitsTest, TheRefusalOfEachOfItsTasksCountsOnce) {
  begin();
  gang(1);
  refuse(100, 1, 9);
  refuse(100, 1, 9);
  EXPECT_EQ(waits_->refusals(JobId{1}), 1u);
}

TEST_F(GangWaitsTest, AGangHasATurnAfterATimeOfPatience) {
  begin();
  gang(1);
  single(2);
  refuse(100, 1);
  EXPECT_FALSE(due(159));
  const auto turn = due(160);
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->job, JobId{1});
  EXPECT_EQ(turn->until, at_s(190));
  happen(160, GangTurn{*turn});
  EXPECT_EQ(waits_->turn(at_s(189)), JobId{1});
  EXPECT_FALSE(waits_->turn(at_s(190)));
}

TEST_F(GangWaitsTest, AfterATurnTheOthersStartForAsLongAndTheNextOneIsTwiceAsLong) {
  begin();
  gang(1);
  single(2);
  refuse(100, 1);
  happen(160, GangTurn{*due(160)});
  EXPECT_FALSE(due(219)) << "the others' time";
  EXPECT_FALSE(due(309)) << "its next wait is twice as long";
  const auto next = due(310);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->until, at_s(370));
}

TEST_F(GangWaitsTest, ThereIsNoTurnWhereNobodyElseWaits) {
  begin();
  gang(1);
  refuse(100, 1);
  EXPECT_FALSE(due(1000));
}

TEST_F(GangWaitsTest, AGangThatStartsEndsItsTurnAndTheOthersHaveAsLongAsItTook) {
  begin();
  gang(1);
  gang(3);
  single(2);
  refuse(100, 1);
  refuse(101, 3);
  happen(170, GangTurn{*due(170)});
  ready(171, 1);
  happen(180, TaskAssigned{TaskId{1}, InstanceId{1}, {}, Grant{Resources::of(0, 2, 4)}});
  happen(180, StartIssued{TaskId{1}, InstanceId{1}, 1, Grant{Resources::of(0, 2, 4)}});
  EXPECT_FALSE(waits_->turn(at_s(181)));
  EXPECT_FALSE(due(189));
  EXPECT_EQ(due(191)->job, JobId{3});
}

TEST_F(GangWaitsTest, OfSeveralThatTheCloudRefusedOneAsksInARound) {
  begin();
  gang(1);
  gang(2);
  ready(0, 9);
  cloud_refuses(10, 1, 11);
  cloud_refuses(10, 2, 12);
  EXPECT_THAT(backed_off(20), ElementsAre(JobId{1}, JobId{2}));
  EXPECT_THAT(backed_off(31, 0), ElementsAre(JobId{2}));
  EXPECT_THAT(backed_off(31, 1), ElementsAre(JobId{1}));
}

TEST_F(GangWaitsTest, AGangThatIsTooLargeForTheFleetHasNoTurnBeforeTheFleetGrows) {
  begin(true);
  ready(0, 9);
  happen(0, JobAccepted{test::JobBuilder(1).tasks(2).demand(Resources::of(0, 3, 4)).build()});
  single(2);
  ASSERT_TRUE(gang_over_fleet(*state_.find(JobId{1}), state_));
  const Refusal refusal{RefusalKind::not_now, RefusalCode::fixed_fleet, Resource::cpu, 6, 4};
  happen(100, PlanPartRefused{TaskId{1}, {}, refusal});
  EXPECT_FALSE(due(1000));
  happen(1000, LaunchRequested{InstanceId{10}, test::type_named(catalog_, "it3"), {}, {}, {}});
  EXPECT_EQ(due(1000)->job, JobId{1});
}

TEST_F(GangWaitsTest, ManyRefusalsOfAWideGangLookAtItsTasksOnce) {
  constexpr std::uint64_t kTasks = 3000;
  begin(true);
  ready(0, 9);
  single(7);
  happen(0, TaskAssigned{TaskId{7}, InstanceId{9}, {}, Grant{Resources::of(0, 2, 4)}});
  happen(0,
         JobAccepted{test::JobBuilder(1).tasks(kTasks).demand(Resources::of(0, 0.001, 0)).build()});
  const Refusal no_room{RefusalKind::not_now, RefusalCode::awaiting_capacity, Resource::cpu, 3, 2};
  for (std::uint64_t i = 0; i < kTasks; ++i) {
    const TaskId id{i == 0 ? 1 : 100 + i};
    happen(1, i % 2 == 0 ? EventBody(TaskRefused{id, no_room})
                         : EventBody(PlanPartRefused{id, {}, no_room}));
  }
  EXPECT_EQ(waits_->tasks_summed(), kTasks);
  EXPECT_FALSE(waits_->over_fleet(*state_.find(JobId{1}), state_));
}

TEST_F(GangWaitsTest, AfterARestartItIsKnownAnewWhatGangsAskFor) {
  begin(true);
  ready(0, 9);
  happen(0, JobAccepted{test::JobBuilder(1).tasks(2).demand(Resources::of(0, 3, 4)).build()});
  const GangWaitState book = waits_->book();
  begin(true);
  waits_->restore(book, state_);
  ASSERT_TRUE(waits_->over_fleet(*state_.find(JobId{1}), state_));
  EXPECT_EQ(*waits_->over_fleet(*state_.find(JobId{1}), state_),
            *gang_over_fleet(*state_.find(JobId{1}), state_));
}

TEST_F(GangWaitsTest, AnElasticJobAsksForItsWidth) {
  begin(true);
  ready(0, 9);
  happen(0, JobAccepted{test::JobBuilder(1).demand(Resources::of(0, 3, 4)).elastic(1, 4).build()});
  EXPECT_FALSE(waits_->over_fleet(*state_.find(JobId{1}), state_));
  happen(1, JobResized{JobId{1}, 3, {}});
  ASSERT_TRUE(waits_->over_fleet(*state_.find(JobId{1}), state_));
  EXPECT_EQ(waits_->over_fleet(*state_.find(JobId{1}), state_)->asked, 9);
}

TEST_F(GangWaitsTest, AJobThatIsOverIsForgotten) {
  begin();
  gang(1);
  refuse(100, 1, 9);
  happen(101, JobTerminating{JobId{1}, JobOutcome::cancelled});
  EXPECT_THAT(backed_off(102), IsEmpty());
  EXPECT_EQ(waits_->refusals(JobId{1}), 0u);
}

}  // namespace
}  // namespace muster
