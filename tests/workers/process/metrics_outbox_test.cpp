#include "workers/process/metrics_outbox.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace muster::process {
namespace {

/// A worker whose clock the test turns.
class MetricsOutboxTest : public ::testing::Test {
 protected:
  ExecutorHost host() {
    ExecutorHost host;
    host.now = [this] { return now_; };
    host.at = [this](Instant when, std::function<void()> step) {
      timers_.emplace(when, std::move(step));
    };
    host.reported = [this](std::vector<AttemptMetrics> said) { told_.push_back(std::move(said)); };
    host.filled = [this](std::vector<FilledLog> logs) { filled_.push_back(std::move(logs)); };
    return host;
  }
  void pass(Duration time) {
    now_ += time;
    while (!timers_.empty() && timers_.begin()->first <= now_) {
      auto due = timers_.extract(timers_.begin());
      due.mapped()();
    }
  }

  static constexpr AttemptKey kFirst{TaskId{1}, 1};
  static constexpr AttemptKey kSecond{TaskId{2}, 1};

  Instant now_{std::chrono::hours{1}};
  std::multimap<Instant, std::function<void()>> timers_;
  std::vector<std::vector<AttemptMetrics>> told_;
  std::vector<std::vector<FilledLog>> filled_;
  ExecutorHost host_ = host();
  MetricsOutbox outbox_{host_, std::chrono::seconds{2}};
};

TEST_F(MetricsOutboxTest, TellsAtOnceAndThenOnceInAnInterval) {
  outbox_.note(kFirst, {{"a", 1}});
  pass({});
  ASSERT_EQ(told_.size(), 1u);
  for (int i = 0; i < 100; ++i) outbox_.note(kFirst, {{"a", i}});
  outbox_.note(kSecond, {{"b", 1}});
  pass(std::chrono::milliseconds{1999});
  EXPECT_EQ(told_.size(), 1u);
  pass(std::chrono::milliseconds{1});
  ASSERT_EQ(told_.size(), 2u);
  ASSERT_EQ(told_[1].size(), 2u);
  EXPECT_EQ(told_[1][0].said.values, (Metrics{{"a", 99}}));
  EXPECT_EQ(told_[1][1].said.task, TaskId{2});
}

TEST_F(MetricsOutboxTest, SaysNothingOfWhatHasNotChanged) {
  outbox_.note(kFirst, {{"a", 1}});
  pass({});
  outbox_.note(kFirst, {{"a", 1}});
  pass(std::chrono::hours{1});
  EXPECT_EQ(told_.size(), 1u);
  outbox_.repeat();
  pass(std::chrono::hours{1});
  EXPECT_EQ(told_.size(), 2u) << "but when it is asked for";
}

TEST_F(MetricsOutboxTest, TellsWhatIsNewOfAnAttemptThatEndsAtOnce) {
  outbox_.note(kFirst, {{"a", 1}});
  pass({});
  outbox_.end(kFirst, {{"a", 2}});
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_EQ(told_[1][0].said.values, (Metrics{{"a", 2}}));
  outbox_.note(kSecond, {{"a", 1}});
  pass(std::chrono::hours{1});
  outbox_.end(kSecond, {{"a", 1}});
  EXPECT_EQ(told_.size(), 3u) << "it was told already";
  outbox_.settle(kFirst);
  outbox_.settle(kSecond);
  outbox_.repeat();
  pass(std::chrono::hours{1});
  EXPECT_EQ(told_.size(), 3u) << "nothing is left of them";
}

TEST_F(MetricsOutboxTest, RepeatsTheLastValuesOfAnAttemptUntilItsEndIsSettled) {
  outbox_.end(kFirst, {{"a", 2}});
  outbox_.note(kSecond, {{"a", 1}});
  outbox_.settle(kSecond);
  pass({});
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_TRUE(outbox_.keeps(kFirst));
  EXPECT_FALSE(outbox_.keeps(kSecond)) << "it runs";
  outbox_.repeat();
  ASSERT_EQ(told_.size(), 3u) << "at once: its end is said right behind";
  ASSERT_EQ(told_[2].size(), 1u);
  EXPECT_EQ(told_[2][0].said, (TaskMetrics{TaskId{1}, {{"a", 2}}}));
  pass(std::chrono::hours{1});
  ASSERT_EQ(told_.size(), 4u);
  EXPECT_EQ(told_[3][0].said.task, TaskId{2});
  outbox_.settle(kFirst);
  EXPECT_FALSE(outbox_.keeps(kFirst));
}

TEST_F(MetricsOutboxTest, DropsFromAResultWhatNoTaskCanReport) {
  outbox_.end(kFirst, {{"a", NAN}});
  outbox_.end(kFirst, {{"b", 1}, {"a", 1}});
  outbox_.end(kFirst, {});
  EXPECT_TRUE(told_.empty());
}

TEST_F(MetricsOutboxTest, FullFilesAreToldAtOnceAndAgainUntilTheAttemptIsOver) {
  outbox_.note(kFirst, FilledBytes{10, 0});
  outbox_.note(kFirst, FilledBytes{10, 0});
  ASSERT_EQ(filled_.size(), 1u) << "a shim that is connected to again says it again";
  EXPECT_EQ(filled_[0].at(0).out_bytes, 10u);
  outbox_.note(kSecond, FilledBytes{0, 20});
  outbox_.repeat();
  ASSERT_EQ(filled_.size(), 3u);
  ASSERT_EQ(filled_[2].size(), 2u);
  EXPECT_EQ(filled_[2][0].task, kFirst.task);
  EXPECT_EQ(filled_[2][1].err_bytes, 20u);
  outbox_.end(kFirst, {});
  outbox_.end(kSecond, {{"a", 1}});
  outbox_.repeat();
  EXPECT_EQ(filled_.size(), 3u);
}

}  // namespace
}  // namespace muster::process
