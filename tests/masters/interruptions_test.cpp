// Restarts without progress end: a task that loses attempt after attempt stays where it is and runs
// on demand, or its job is refused.

#include <gmock/gmock.h>

#include "masters/view/cell_pieces.hpp"
#include "model/stay.hpp"
#include "tests/masters/scripted_master.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::JobBuilder;
using ::testing::AllOf;
using ::testing::HasSubstr;

Catalog both_markets() {
  InstanceType type;
  type.name = "it3";
  type.family = "cpu";
  type.capacity = Resources::of(0, 8, 32);
  type.on_demand = Price::from_usd_h(0.8);
  type.spot = Price::from_usd_h(0.2);
  return Catalog({type});
}

/// After two attempts without progress a task is confined.
class Interruptions : public test::MasterTest {
 protected:
  Interruptions() {
    catalog_ = both_markets();
    settings_.max_interruptions = 2;
    make_master({});
  }
  const ClusterState& state() const { return master_->state(); }
  const TaskRow& task(std::uint64_t id = 1) const { return *state().find(TaskId{id}); }
  void submit(MarketChoice markets = MarketChoice::any, bool checkpoints = false) {
    Job job = JobBuilder(1).gang(false).build();
    job.markets = markets;
    job.checkpoints = checkpoints;
    ASSERT_EQ(master_->submit(job, now()), SubmitResult::accepted);
  }
  static Plan on(Market market) {
    Plan plan;
    plan.launches.push_back({TypeId{0}, market, {}});
    plan.places.push_back({TaskId{1}, LaunchIndex{0}, {}});
    return plan;
  }
  /// The next attempt runs on a new instance of the market.
  void run(Market market) {
    round(on(market));
    boot(instances_);
    started(1, ++attempts_);
    commit();
    ++instances_;
  }
  void interrupt() {
    master_->instance_gone(InstanceId{instances_ - 1}, {}, now(), {{}, CloudReason::reclaimed});
    commit();
  }
  void leave(std::int32_t code) {
    master_->evict(InstanceId{instances_ - 1}, CauseCode::drained, now());
    master_->task_checkpointed({TaskId{1}, attempts_, {}, {code, "", ""}}, now());
    commit();
  }
  std::optional<JobOutcome> outcome() const {
    for (const Event& event : events_) {
      if (const auto* over = std::get_if<JobFinished>(&event.body)) return over->outcome;
    }
    return std::nullopt;
  }

  std::uint64_t instances_ = 0;
  Attempt attempts_ = 0;
};

TEST_F(Interruptions, AreForgivenUpToTheBound) {
  submit();
  run(Market::spot);
  interrupt();
  EXPECT_EQ(task().fruitless, 1U);
  EXPECT_EQ(state().markets(task()), MarketChoice::any);
  run(Market::spot);
  EXPECT_EQ(task().phase, TaskPhase::running);
  EXPECT_FALSE(why_it_stays(state(), task(), {now(), {}}));
}

TEST_F(Interruptions, BeyondTheBoundATaskIsPlacedOnDemandOnlyAndMovedNoMore) {
  submit();
  for (int i = 0; i < 2; ++i) {
    run(Market::spot);
    interrupt();
  }
  EXPECT_EQ(state().markets(task()), MarketChoice::on_demand);
  round(on(Market::spot));
  EXPECT_EQ(task().phase, TaskPhase::pending) << "whatever the policy wants";
  EXPECT_EQ(task().reason.code, RefusalCode::no_progress);
  run(Market::on_demand);
  const auto stays = why_it_stays(state(), task(), {now(), {}});
  ASSERT_TRUE(stays);
  EXPECT_EQ(*stays, (Refusal{RefusalKind::not_now, RefusalCode::no_progress, {}, 2, 2}));
  round(on(Market::on_demand));
  EXPECT_EQ(task().phase, TaskPhase::running);
  EXPECT_THAT(cell::why(task(), *master_), AllOf(HasSubstr("2 attempts"), IsGolden()));
}

TEST_F(Interruptions, ANewCheckpointBeginsTheCountAnew) {
  submit();
  run(Market::spot);
  interrupt();
  run(Market::spot);
  leave(kCheckpointedExit);
  EXPECT_EQ(task().fruitless, 0U);
  run(Market::spot);
  leave(143);
  EXPECT_EQ(task().fruitless, 1U);
}

TEST_F(Interruptions, ExitCodeZeroIsACheckpointOnlyWhereTheJobKeepsSome) {
  submit(MarketChoice::any, true);
  run(Market::spot);
  interrupt();
  run(Market::spot);
  leave(0);
  EXPECT_EQ(task().fruitless, 0U);
  run(Market::spot);
  leave(3);
  EXPECT_EQ(task().fruitless, 1U);
}

TEST_F(Interruptions, AJobThatCannotRunOnDemandIsRefusedWithTheNumbers) {
  submit(MarketChoice::spot);
  for (int i = 0; i < 2; ++i) {
    run(Market::spot);
    interrupt();
  }
  EXPECT_EQ(outcome(), JobOutcome::refused);
  bool said = false;
  for (const Event& event : events_) {
    const auto* refused = std::get_if<TaskRefused>(&event.body);
    said |= refused != nullptr &&
            refused->refusal == Refusal{RefusalKind::never, RefusalCode::no_progress, {}, 2, 2};
  }
  EXPECT_TRUE(said);
}

/// The tasks of a gang of two run on one instance, which is taken back.
TEST_F(Interruptions, AGangThatCannotRunOnDemandIsRefusedOnce) {
  Job job = JobBuilder(1).tasks(2).build();
  job.markets = MarketChoice::spot;
  job.checkpoints = false;
  ASSERT_EQ(master_->submit(job, now()), SubmitResult::accepted);
  for (Attempt attempt = 1; attempt <= 2; ++attempt) {
    Plan plan = on(Market::spot);
    plan.places.push_back({TaskId{100}, LaunchIndex{0}, {}});
    plan.places[0].task = TaskId{1};
    plan.places[1].task = TaskId{101};
    round(plan);
    boot(instances_++);
    started(1, attempt);
    started(101, attempt);
    commit();
    interrupt();
  }
  EXPECT_EQ(outcome(), JobOutcome::refused);
  const auto told = std::ranges::count_if(events_, [](const Event& event) {
    const auto* refused = std::get_if<TaskRefused>(&event.body);
    return refused != nullptr && refused->refusal.code == RefusalCode::no_progress &&
           refused->refusal.kind == RefusalKind::never;
  });
  EXPECT_EQ(told, 1);
}

TEST_F(Interruptions, AreCountedInSnapshots) {
  submit();
  for (int i = 0; i < 2; ++i) {
    run(Market::spot);
    interrupt();
  }
  MasterSnapshot snapshot = master_->memory().snapshot();
  MasterDependencies parts;
  parts.catalog = &catalog_;
  MasterMemory restored(settings_, parts);
  restored.restore(std::move(snapshot));
  const ClusterState& again = restored.facts().state;
  EXPECT_EQ(again.markets(*again.find(TaskId{1})), MarketChoice::on_demand);
  EXPECT_TRUE(again.inconsistencies().empty());
}

TEST_F(Interruptions, HaveNoBoundWhereThatIsZero) {
  settings_.max_interruptions = 0;
  make_master({});
  submit();
  for (int i = 0; i < 9; ++i) {
    run(Market::spot);
    interrupt();
  }
  EXPECT_EQ(state().markets(task()), MarketChoice::any);
}

}  // namespace
}  // namespace muster
