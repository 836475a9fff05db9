// Usage of real programs: at their ends, and while they run for those who ask.

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "tests/support/process_host.hpp"
#include "workers/process/progress.hpp"

namespace muster {
namespace {

using test::ProcessHost;
using test::script;
using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
/// dd has a buffer of that size, and fills it.
constexpr const char* kHolds200MiB = "dd if=/dev/zero bs=200M count=1 2>/dev/null";
constexpr const char* kSpin = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";

class ProcessUsageTest : public ::testing::Test {
 protected:
  ProcessUsageTest() : options_(test::process_options(files_.folder())) {
    ExecutorHost host = host_.host();
    host.now = [] { return Instant{process::boot_time()}; };
    host.at = [this](Instant when, std::function<void()> step) {
      timers_.emplace(when, std::move(step));
    };
    executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host);
  }
  bool run_until(const std::function<bool()>& condition) {
    return host_.run_until([&] {
      const Instant now{process::boot_time()};
      while (!timers_.empty() && timers_.begin()->first <= now) {
        auto due = timers_.extract(timers_.begin());
        due.mapped()();
      }
      return condition();
    });
  }
  Usage used_by(const std::string& text) {
    executor_->start(script(1, text));
    const ProcessHost::News end = host_.end_of(TaskId{1}, 1);
    EXPECT_EQ(end.what, "finished") << end.reason;
    return end.end.used;
  }
  std::vector<AttemptUsage> ask() {
    std::optional<std::vector<AttemptUsage>> answer;
    executor_->usage([&](std::vector<AttemptUsage> said) { answer = std::move(said); });
    EXPECT_TRUE(run_until([&] { return answer.has_value(); }));
    return answer.value_or(std::vector<AttemptUsage>{});
  }

  test::TempFile files_{"kept", ""};
  ProcessOptions options_;
  ProcessHost host_;
  std::multimap<Instant, std::function<void()>> timers_;
  std::unique_ptr<ProcessExecutor> executor_;
};

TEST_F(ProcessUsageTest, AProgramThatHolds200MiBHasThatPeak) {
  const Usage used = used_by(std::string(kHolds200MiB) + " >/dev/null");
  EXPECT_GE(used.peak_bytes, 200 * kMiB);
  EXPECT_LT(used.peak_bytes, 500 * kMiB);
  EXPECT_GT(used.cpu, Duration::zero());
}

TEST_F(ProcessUsageTest, ThePeakIsThatOfTheSmallProgramWhereItIsSmall) {
  EXPECT_LT(used_by("exit 0").peak_bytes, 100 * kMiB);
}

TEST_F(ProcessUsageTest, AProgramThatSpinsHasItsProcessorTime) {
  const Usage one = used_by(kSpin);
  EXPECT_GE(one.cpu, 10ms);
  EXPECT_LT(one.cpu, 60s);
}

TEST_F(ProcessUsageTest, TheTimeOfChildrenThatNobodyWaitedForCounts) {
  // The shell ends before its child, whose parent the shim is then.
  executor_->start(script(1, std::string("(") + kSpin +
                                 "; touch done) & exec sh -c 'while [ ! -e "
                                 "done ]; do sleep 0.02; done'"));
  const ProcessHost::News end = host_.end_of(TaskId{1}, 1);
  EXPECT_EQ(end.what, "finished") << end.reason;
  EXPECT_GE(end.end.used.cpu, 10ms);
}

TEST_F(ProcessUsageTest, OneThatNeverRanHasTakenNothing) {
  TaskOrder order = script(1, "");
  order.program.argv = {"/no/such/program"};
  executor_->start(order);
  EXPECT_EQ(host_.end_of(TaskId{1}, 1).end.used, Usage{});
}

TEST_F(ProcessUsageTest, WhileItRunsItIsMeasuredForWhoAsks) {
  executor_->start(script(1, "while :; do :; done"));
  executor_->start(script(2, std::string(kHolds200MiB) + " | sleep 1000"));
  ASSERT_TRUE(run_until(
      [&] { return host_.heard("started", TaskId{1}) && host_.heard("started", TaskId{2}); }));
  std::vector<AttemptUsage> said;
  ASSERT_TRUE(run_until([&] {
    said = ask();
    return said.size() == 2 && said[0].cores.value_or(0) > 0.05 &&
           said[1].so_far.peak_bytes >= 200 * kMiB;
  }));
  EXPECT_EQ(said[0].task, TaskId{1});
  EXPECT_GT(said[0].so_far.cpu, Duration::zero());
  EXPECT_LE(*said[0].cores, 4);
  EXPECT_GT(said[0].memory_bytes, 0u);
  EXPECT_LT(said[0].so_far.peak_bytes, 100 * kMiB);
  executor_->stop(TaskId{1}, 1);
  executor_->stop(TaskId{2}, 1);
  EXPECT_GT(host_.end_of(TaskId{1}, 1).end.used.cpu, Duration::zero());
  EXPECT_GE(host_.end_of(TaskId{2}, 1).end.used.peak_bytes, 200 * kMiB);
  EXPECT_TRUE(ask().empty());
}

}  // namespace
}  // namespace muster
