// The attempts of a task and the life of an instance, as a master tells them.
#include "masters/view/attempt_views.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "masters/instances/instance_lives.hpp"
#include "masters/view/cell_view.hpp"
#include "storage/records/record_codec.hpp"
#include "tests/masters/scripted_master.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::at_s;
using test::IsGolden;
using test::JobBuilder;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(AttemptTexts, HaveASentenceForEveryWayToLeave) {
  std::string all;
  const auto add = [&](const AttemptHistory& attempt, std::optional<JobOutcome> over = {}) {
    all += cell::why_left(attempt, over) + "\n";
  };
  AttemptHistory attempt;
  add(attempt);
  attempt.started_at = at_s(1);
  add(attempt);
  attempt.end = AttemptEnd::finished;
  add(attempt);
  attempt.end = AttemptEnd::failed;
  add(attempt);
  attempt.reason = "exit code 5";
  add(attempt);
  attempt.end = AttemptEnd::stopped;
  add(attempt);
  add(attempt, JobOutcome::cancelled);
  add(attempt, JobOutcome::failed);
  attempt.end = AttemptEnd::lost;
  add(attempt);
  attempt.reason.clear();
  for (const CloudReason gone :
       {CloudReason::not_said, CloudReason::failed, CloudReason::reclaimed}) {
    attempt.gone = gone;
    add(attempt);
  }
  attempt.gone = CloudReason::ended;
  for (const CauseCode cause : {CauseCode::worker_lost, CauseCode::spend_cap, CauseCode::drained}) {
    attempt.leaves = cause;
    add(attempt);
  }
  attempt.end = AttemptEnd::moved;
  attempt.leaves.reset();
  add(attempt);
  EXPECT_THAT(all, IsGolden());
}

TEST(AttemptTexts, HaveAPhraseForEveryCause) {
  std::string all;
  AttemptHistory attempt;
  attempt.end = AttemptEnd::moved;
  for (std::size_t i = 0; i < kEnumerators<CauseCode>; ++i) {
    attempt.leaves = static_cast<CauseCode>(i);
    all += cell::why_left(attempt, {}) + "\n";
    all += "  " + cell::cause_text(*attempt.leaves) + "\n";
  }
  EXPECT_THAT(all, IsGolden());
}

class AttemptViews : public test::MasterTest {
 protected:
  /// A task with one instance after the other, which the cloud takes back.
  void lose(std::uint64_t instances) {
    ASSERT_EQ(master_->submit(JobBuilder(1).gang(false).build(), now()), SubmitResult::accepted);
    for (std::uint64_t i = 0; i < instances; ++i) {
      run(i);
      master_->instance_gone(InstanceId{i}, {}, now(), {{}, CloudReason::reclaimed});
      commit();
    }
  }
  void run(std::uint64_t instance) {
    round(together({1}));
    boot(instance);
    started(1, static_cast<Attempt>(instance + 1));
    commit();
  }
  TaskView task() {
    JobQuestion wanted;
    wanted.job = JobId{1};
    wanted.attempts = true;
    const CellView view{*master_, nullptr, {}, "m0", at_s(clock_s_)};
    return view.job(wanted).view.tasks.at(0);
  }
  InstanceLife life(std::uint64_t instance) {
    const CellView view{*master_, nullptr, {}, "m0", at_s(clock_s_)};
    return view.life({InstanceId{instance}});
  }
};

TEST_F(AttemptViews, TellWhereEachAttemptWasAndWhyItLeft) {
  lose(2);
  run(2);
  const TaskView shown = task();
  ASSERT_EQ(shown.attempts->size(), 3U);
  const AttemptView& first = shown.attempts->front();
  EXPECT_EQ(first.attempt, 1U);
  EXPECT_EQ(first.instance, InstanceId{0});
  EXPECT_EQ(first.instance_type, "it3");
  EXPECT_EQ(first.market, Market::on_demand);
  EXPECT_EQ(first.end, AttemptEnd::lost);
  EXPECT_EQ(first.ran_s, to_seconds(*first.ended - *first.started));
  EXPECT_GT(first.usd, 0);
  const AttemptView& newest = shown.attempts->back();
  EXPECT_EQ(newest.end, AttemptEnd::not_over);
  EXPECT_EQ(newest.ended, std::nullopt);
  double ran = 0;
  double usd = 0;
  for (const AttemptView& attempt : *shown.attempts) {
    ran += *attempt.ran_s;
    usd += attempt.usd;
  }
  EXPECT_DOUBLE_EQ(*shown.wall_s, ran) << "lost time was time, too";
  EXPECT_NEAR(usd, shown.usd, 1e-12) << "attempts pay for all of the task";
}

TEST_F(AttemptViews, SayHowManyAttemptsAreLeftOut) {
  settings_.kept_attempts = 2;
  make_master({});
  lose(7);
  const TaskView shown = task();
  std::vector<Attempt> numbers;
  for (const AttemptView& attempt : *shown.attempts) numbers.push_back(attempt.attempt);
  EXPECT_EQ(numbers, (std::vector<Attempt>{1, 2, 6, 7}));
  EXPECT_EQ(shown.attempts_left_out, 3U);
}

TEST_F(AttemptViews, AreTheSameFromASnapshotAndFromTheEvents) {
  lose(3);
  const TaskView before = task();
  const std::string bytes = encode_snapshot(master_->snapshot());
  auto again = decode_snapshot(bytes, catalog_);
  ASSERT_TRUE(again);
  make_master({});
  master_->restore(std::move(again).value(), {});
  const TaskView after = task();
  ASSERT_EQ(after.attempts->size(), before.attempts->size());
  for (std::size_t i = 0; i < before.attempts->size(); ++i) {
    EXPECT_EQ((*after.attempts)[i].why, (*before.attempts)[i].why);
    EXPECT_EQ((*after.attempts)[i].ended, (*before.attempts)[i].ended);
    EXPECT_EQ((*after.attempts)[i].usd, (*before.attempts)[i].usd);
  }
  EXPECT_EQ(life(1).tasks.size(), 1U);
  const std::vector<Event> log = std::exchange(events_, {});
  make_master({});
  master_->restore(std::nullopt, log);
  EXPECT_EQ(task().attempts->size(), before.attempts->size());
}

TEST_F(AttemptViews, OfAJobThatIsOverGoIntoItsHistory) {
  lose(1);
  run(1);
  master_->task_finished({TaskId{1}, 2, {}}, now());
  std::vector<JobHistory> over = master_->commit().over;
  ASSERT_EQ(over.size(), 1U);
  const TaskHistory& task = over[0].tasks.at(0);
  TaskView shown;
  cell::put_attempts(shown, task, {catalog_, task.cost, {}, JobOutcome::completed});
  ASSERT_EQ(shown.attempts->size(), 2U);
  EXPECT_EQ((*shown.attempts)[0].end, AttemptEnd::lost);
  EXPECT_EQ((*shown.attempts)[1].end, AttemptEnd::finished);
  EXPECT_NEAR((*shown.attempts)[0].usd + (*shown.attempts)[1].usd, task.cost.usd(), 1e-12);
}

TEST_F(AttemptViews, SayThatAUserDrainedTheInstance) {
  one_running(1);
  master_->evict(InstanceId{0}, CauseCode::drained, now());
  master_->task_checkpointed({TaskId{1}, 1, {}, {85, {}, {}}}, now());
  commit();
  const AttemptView left = task().attempts->at(0);
  EXPECT_EQ(left.end, AttemptEnd::moved);
  EXPECT_EQ(left.exit_code, 85);
  EXPECT_THAT(left.why, AllOf(HasSubstr("drained"), IsGolden()));
  const InstanceLife gone = life(0);
  EXPECT_THAT(gone.why_ended, AllOf(HasSubstr("drained"), IsGolden()));
  ASSERT_EQ(gone.tasks.size(), 1U);
  EXPECT_EQ(gone.tasks[0].end, AttemptEnd::moved);
}

TEST_F(AttemptViews, TellTheLifeOfAnInstanceAlsoWhenItIsGone) {
  lose(1);
  const InstanceLife gone = life(0);
  ASSERT_TRUE(gone.known);
  EXPECT_EQ(gone.stage, InstanceStage::ended);
  EXPECT_EQ(gone.type, "it3");
  EXPECT_EQ(gone.master, "m0");
  EXPECT_TRUE(gone.up && gone.ready && gone.ended);
  EXPECT_GT(gone.usd, 0);
  EXPECT_THAT(gone.why_ended, IsGolden());
  ASSERT_EQ(gone.tasks.size(), 1U);
  EXPECT_EQ(gone.tasks[0].end, AttemptEnd::lost);
  EXPECT_FALSE(life(77).known);
}

TEST_F(AttemptViews, KeepTheLivesOfTheLastInstancesAlone) {
  settings_.kept_instances = 2;
  make_master({});
  lose(5);
  EXPECT_FALSE(life(2).known);
  EXPECT_TRUE(life(3).known);
  EXPECT_TRUE(life(4).known);
}

TEST_F(AttemptViews, KeepTheLivesOfInstancesThatRanWhateverTheCloudRefusesAfterThem) {
  ClusterState state(catalog_);
  InstanceLives lives(settings_);
  double at = 0;
  const auto happen = [&](EventBody body) {
    const Event event{at_s(++at), std::move(body)};
    lives.absorb(event, state);
    state.apply(event);
  };
  happen(LaunchRequested{InstanceId{0}, it3(), Market::spot, {}, {}});
  happen(InstanceUp{InstanceId{0}, {}, {}});
  happen(InstanceGone{InstanceId{0}, {}, {}});
  for (std::uint64_t id = 1; id <= settings_.kept_instances; ++id) {
    happen(LaunchRequested{InstanceId{id}, it3(), Market::spot, {}, {}});
    happen(LaunchRefused{InstanceId{id}, {}, CloudReason::capacity});
  }
  EXPECT_NE(lives.find(InstanceId{0}), nullptr);
  EXPECT_NE(lives.find(InstanceId{settings_.kept_instances}), nullptr);
  EXPECT_EQ(lives.find(InstanceId{1}), nullptr) << "of those that are refused only the last ones";
  InstanceLives restored(settings_);
  auto book = lives.book();
  restored.restore(std::move(book), state);
  EXPECT_EQ(restored.book(), lives.book());
}

TEST_F(AttemptViews, AWaitingTaskIsToldWhenTheNextRoundIs) {
  ASSERT_EQ(master_->submit(JobBuilder(1).build(), now()), SubmitResult::accepted);
  JobQuestion wanted;
  wanted.job = JobId{1};
  wanted.explained = true;
  const CellView view{*master_, nullptr, {}, "m0", at_s(310)};
  const JobDetails shown = view.job(wanted).view;
  EXPECT_THAT(shown.tasks.at(0).why, AllOf(HasSubstr("00:10:00 UTC"), IsGolden()));
}

}  // namespace
}  // namespace muster
