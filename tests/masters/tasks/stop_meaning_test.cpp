// Every cell of "The meaning of an end" (docs/tasks.md): how the program ended, by who had it
// stopped.

#include "masters/tasks/stop_meaning.hpp"

#include <array>
#include <tuple>

#include "tests/masters/scripted_master.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using By = StoppedBy;
using End = ProgramEnd;
using Means = StopMeaning;

constexpr std::array kEnds = {End::unasked, End::zero, End::checkpointed, End::other_code,
                              End::signal};
constexpr std::array kWho = {By::nobody,    By::move,     By::resize,      By::drain,
                             By::notice,    By::cap,      By::time_limit,  By::cancel,
                             By::max_fails, By::gang_end, By::gang_restart};

/// A row of the table, for a job that says nothing, one that keeps checkpoints, and one that is
/// done when it exits with 0.
struct Row {
  std::array<Means, 5> plain;
  Means zero_with_checkpoints;
  Means zero_with_done_on_stop;
};

Row row_of(By who) {
  constexpr std::array kOwn = {Means::own_end, Means::own_end, Means::own_end, Means::own_end,
                               Means::own_end};
  constexpr std::array kLeaves = {Means::own_end, Means::left, Means::saved, Means::left,
                                  Means::left};
  constexpr std::array kFails = {Means::own_end, Means::failed, Means::failed, Means::failed,
                                 Means::failed};
  constexpr std::array kStops = {Means::own_end, Means::stopped, Means::stopped, Means::stopped,
                                 Means::stopped};
  switch (who) {
    case By::nobody:
      return {kOwn, Means::own_end, Means::own_end};
    case By::move:
    case By::resize:
    case By::drain:
    case By::notice:
    case By::cap:
    case By::gang_restart:
      return {kLeaves, Means::saved, Means::done};
    case By::time_limit:
      return {kFails, Means::failed, Means::failed};
    case By::cancel:
    case By::max_fails:
    case By::gang_end:
      return {kStops, Means::stopped, Means::stopped};
  }
  return {};
}

class StopMeaningTable : public ::testing::TestWithParam<By> {};
INSTANTIATE_TEST_SUITE_P(Who, StopMeaningTable, ::testing::ValuesIn(kWho));

TEST_P(StopMeaningTable, SaysWhatEachEndMeans) {
  Job plain = JobBuilder(1).build(), keeps = plain, done = plain;
  plain.checkpoints = done.checkpoints = false;
  done.done_on_stop = true;
  const Row row = row_of(GetParam());
  for (std::size_t i = 0; i < kEnds.size(); ++i) {
    EXPECT_EQ(meaning_of(kEnds[i], GetParam(), plain), row.plain[i]) << i;
    if (kEnds[i] == End::zero) continue;
    EXPECT_EQ(meaning_of(kEnds[i], GetParam(), done), row.plain[i]) << i;
    EXPECT_EQ(meaning_of(kEnds[i], GetParam(), keeps), row.plain[i]) << i;
  }
  EXPECT_EQ(meaning_of(End::zero, GetParam(), keeps), row.zero_with_checkpoints);
  EXPECT_EQ(meaning_of(End::zero, GetParam(), done), row.zero_with_done_on_stop);
}

/// The same, of a master that has a task stopped for each of the reasons.
class StopMeaningOfMaster : public test::MasterTest,
                            public ::testing::WithParamInterface<std::tuple<By, End>> {
 protected:
  static By who() { return std::get<0>(GetParam()); }
  static End how() { return std::get<1>(GetParam()); }
  const ClusterState& state() const { return master_->state(); }

  Job job(bool done_on_stop) const {
    Job made = JobBuilder(1).tasks(2).build();
    if (who() == By::resize) made = JobBuilder(1).elastic(1, 2).build();
    made.gang = who() == By::gang_end || who() == By::gang_restart || who() == By::resize;
    made.checkpoints = false;
    made.done_on_stop = done_on_stop;
    made.retries = 0;
    if (who() == By::max_fails) made.max_fails = 0;
    return made;
  }

  /// Tasks 1 and 101 run; then 1 is to stop, of an elastic job 101.
  void have_it_stopped(bool done_on_stop) {
    ASSERT_EQ(master_->submit(job(done_on_stop), now()), SubmitResult::accepted);
    Plan plan = together({1, 101});
    if (who() == By::resize) plan.resizes.push_back({JobId{1}, 2, {}});
    round(plan);
    boot(0);
    started(1, 1);
    started(101, 1);
    stop();
    commit();
  }
  void stop() {
    switch (who()) {
      case By::move:
        round(together({1}));
        break;
      case By::gang_restart:
        round(together({101}));
        break;
      case By::resize: {
        Plan narrower;
        narrower.resizes.push_back({JobId{1}, 1, {}});
        round(narrower);
        break;
      }
      case By::drain:
        master_->evict(InstanceId{0}, CauseCode::drained, now());
        break;
      case By::notice:
        master_->evict(InstanceId{0}, CauseCode::interrupted, now());
        break;
      case By::cap:
        master_->evict(InstanceId{0}, CauseCode::spend_cap, now());
        break;
      case By::cancel:
        master_->cancel(JobId{1}, now());
        break;
      case By::max_fails:
      case By::gang_end:
        master_->task_failed({TaskId{101}, 1, "exit code 3", {}}, now());
        break;
      case By::nobody:
      case By::time_limit:
        break;
    }
  }

  TaskId stopped_task() const { return TaskId{who() == By::resize ? 101U : 1U}; }
  void end_it() {
    constexpr std::array kCodes = {0, 0, kCheckpointedExit, 3, 143};
    const ProcessEnd end{kCodes[static_cast<std::size_t>(how())], "", ""};
    if (how() == End::unasked) {
      master_->task_finished({stopped_task(), 1, end}, now());
    } else if (who() == By::time_limit) {
      master_->task_failed({stopped_task(), 1, "time limit", end, false, FailureKind::time_limit},
                           now());
    } else {
      master_->task_checkpointed({stopped_task(), 1, {}, end}, now());
    }
    commit();
  }
  template <class Wanted>
  std::size_t said() const {
    std::size_t count = 0;
    for (const Event& event : events_) {
      const auto* body = std::get_if<Wanted>(&event.body);
      count += body != nullptr && body->task == stopped_task();
    }
    return count;
  }
  void expect(Means means) {
    EXPECT_EQ(said<TaskFinished>(), means == Means::own_end || means == Means::done ? 1U : 0U);
    EXPECT_EQ(said<TaskCheckpointed>(),
              means == Means::left || means == Means::saved || means == Means::stopped ? 1U : 0U);
    EXPECT_EQ(said<TaskFailed>(), means == Means::failed ? 1U : 0U);
    if (means != Means::left && means != Means::saved) return;
    const TaskRow* row = state().find(stopped_task());
    ASSERT_NE(row, nullptr);
    EXPECT_NE(row->phase, TaskPhase::finished) << "it goes on elsewhere, or later";
  }
};

INSTANTIATE_TEST_SUITE_P(Cells, StopMeaningOfMaster,
                         ::testing::Combine(::testing::Values(By::move, By::resize, By::drain,
                                                              By::notice, By::cap, By::time_limit,
                                                              By::cancel, By::max_fails,
                                                              By::gang_end, By::gang_restart),
                                            ::testing::ValuesIn(kEnds)));

TEST_P(StopMeaningOfMaster, IsTheTables) {
  have_it_stopped(false);
  end_it();
  expect(row_of(who()).plain[static_cast<std::size_t>(how())]);
}

TEST_P(StopMeaningOfMaster, IsTheTablesOfAJobThatIsDoneWhenItExitsWithZero) {
  have_it_stopped(true);
  end_it();
  const Row row = row_of(who());
  expect(how() == End::zero ? row.zero_with_done_on_stop
                            : row.plain[static_cast<std::size_t>(how())]);
}

class CancelTest : public test::MasterTest {
 protected:
  std::optional<JobOutcome> outcome() {
    commit();
    for (const Event& event : events_) {
      if (const auto* over = std::get_if<JobFinished>(&event.body)) return over->outcome;
    }
    return std::nullopt;
  }
  void left(std::uint64_t task, std::int32_t code) {
    master_->task_checkpointed({TaskId{task}, 1, {}, {code, "", ""}}, now());
  }
};

TEST_F(CancelTest, AJobWhoseProgramsExitWithZeroWhenTheyAreAskedToIsCancelled) {
  one_running(1);
  master_->cancel(JobId{1}, now());
  left(1, 0);
  EXPECT_EQ(outcome(), JobOutcome::cancelled);
}

TEST_F(CancelTest, AJobOfWhichAnythingWasKeptBackIsCancelledAlthoughTheOthersHaveFinished) {
  Job job = JobBuilder(1).tasks(4).gang(false).build();
  job.max_running = 2;
  ASSERT_EQ(master_->submit(job, now()), SubmitResult::accepted);
  round(together({1, 101}));
  boot(0);
  started(1, 1);
  started(101, 1);
  master_->cancel(JobId{1}, now());
  master_->task_finished({TaskId{1}, 1, {}}, now());
  left(101, 0);
  EXPECT_EQ(outcome(), JobOutcome::cancelled);
}

TEST_F(CancelTest, AJobThatWasAtItsEndAnywayIsCompleted) {
  one_running(1);
  master_->cancel(JobId{1}, now());
  master_->task_finished({TaskId{1}, 1, {}}, now());
  EXPECT_EQ(outcome(), JobOutcome::completed);
}

}  // namespace
}  // namespace muster
