#include "masters/actor/metrics_intake.hpp"

#include <gtest/gtest.h>

#include "tests/masters/actor/part_host.hpp"
#include "tests/masters/scripted_master.hpp"

namespace muster {
namespace {

/// A master with a task that runs on instance 0, and one on instance 1.
class MetricsIntakeTest : public test::MasterTest {
 protected:
  MetricsIntakeTest() {
    settings_.metrics.interval = std::chrono::seconds{5};
    make_master({});
    one_running(1);
    one_running(2);
    events_.clear();
    host_.on_commit = [this] { commit(); };
    MetricsIntake::Host hooks;
    hooks.recorded = [this] { ++recorded_; };
    hooks.takes_more = [this] { return journal_takes_; };
    intake_.emplace(*master_, host_, std::move(hooks));
  }
  void hear(std::uint64_t instance, std::uint64_t task, double value, Attempt attempt = 1) {
    intake_->hear({InstanceId{instance}, {{{TaskId{task}, {{"a", value}}}, attempt}}});
  }
  /// The records since, event by event: the values in the order of the tasks.
  std::string records() {
    std::string text;
    for (const Event& event : std::exchange(events_, {})) {
      const auto* measured = std::get_if<Measured>(&event.body);
      if (measured == nullptr) continue;
      for (const TaskMetrics& each : measured->metrics) {
        text += std::to_string(static_cast<int>(each.values.front().second)) + " ";
      }
      text += "| ";
    }
    return text;
  }

  test::FakePartHost host_;
  std::optional<MetricsIntake> intake_;
  int recorded_ = 0;
  bool journal_takes_ = true;
};

TEST_F(MetricsIntakeTest, RecordsAtOnceAndThenTheNewestOfAllInEachInterval) {
  hear(0, 1, 1);
  host_.run_until_s(0);
  EXPECT_EQ(records(), "1 | ");
  for (int i = 2; i < 100; ++i) hear(0, 1, i);
  hear(1, 2, 7);
  host_.run_until_s(4.9);
  EXPECT_EQ(records(), "");
  host_.run_until_s(5);
  EXPECT_EQ(records(), "99 7 | ");
  host_.run_until_s(100);
  EXPECT_EQ(records(), "") << "nothing is new";
  EXPECT_EQ(recorded_, 2);
}

TEST_F(MetricsIntakeTest, TakesNothingOfAttemptsThatAreNotThere) {
  hear(1, 1, 1);
  hear(0, 1, 1, 2);
  hear(0, 99, 1);
  host_.run_until_s(100);
  EXPECT_EQ(records(), "");
  EXPECT_EQ(recorded_, 0);
}

TEST_F(MetricsIntakeTest, RecordsWhatAnAttemptHasReportedBeforeItsEnd) {
  hear(0, 1, 1);
  host_.run_until_s(0);
  records();
  hear(0, 1, 2);
  intake_->settle(TaskId{2});
  commit();
  EXPECT_EQ(records(), "") << "it has reported nothing";
  intake_->settle(TaskId{1});
  commit();
  EXPECT_EQ(records(), "2 | ");
}

TEST_F(MetricsIntakeTest, LeavesTheValuesOfOthersForTheirTimeWhenAnAttemptEnds) {
  hear(0, 1, 1);
  host_.run_until_s(0);
  records();
  hear(0, 1, 2);
  hear(1, 2, 7);
  intake_->settle(TaskId{1});
  commit();
  EXPECT_EQ(records(), "2 | ");
  host_.run_until_s(4.9);
  EXPECT_EQ(records(), "");
  host_.run_until_s(5);
  EXPECT_EQ(records(), "7 | ") << "one interval behind the last record of all";
}

TEST_F(MetricsIntakeTest, RecordsTheNewestValuesWhenTheJournalTakesMoreAgain) {
  journal_takes_ = false;
  for (int i = 1; i <= 20; ++i) {
    hear(0, 1, i);
    hear(1, 2, 100 + i);
    host_.run_until_s(5.0 * i);
  }
  EXPECT_EQ(records(), "") << "it would wait in memory behind the journal";
  EXPECT_EQ(recorded_, 0);
  journal_takes_ = true;
  host_.run_until_s(105);
  EXPECT_EQ(records(), "20 120 | ");
  EXPECT_EQ(recorded_, 1);
}

TEST_F(MetricsIntakeTest, RecordsTheLastValuesOfAnAttemptThatEndsWhileTheJournalTakesNothing) {
  journal_takes_ = false;
  hear(0, 1, 1);
  hear(1, 2, 2);
  host_.run_until_s(20);
  intake_->settle(TaskId{1});
  commit();
  EXPECT_EQ(records(), "1 | ");
}

}  // namespace
}  // namespace muster
