#include "workers/process/shim/shim_result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"
#include "workers/process/progress.hpp"

namespace muster::process {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

/// As wait() tells an exit code.
constexpr int exited_with(int code) {
  return code << 8;
}

Order order_of_a_gibibyte() {
  Order order;
  order.granted[Resource::memory] = 1;
  order.worker.max_processes = 10;
  return order;
}

AttemptResult result_of(const TaskEnd& end) {
  return result_of(end, order_of_a_gibibyte(), nullptr);
}

TEST(ShimResultTest, ATaskThatEndsByItselfHasItsExitCode) {
  TaskEnd end;
  EXPECT_EQ(result_of(end).kind, EndKind::exited);
  EXPECT_TRUE(result_of(end).reason.empty());
  end.status = exited_with(3);
  EXPECT_EQ(result_of(end).exit_code, 3);
  EXPECT_EQ(result_of(end).kind, EndKind::exited);
  EXPECT_FALSE(result_of(end).reason.empty());
}

TEST(ShimResultTest, ASignalIsToldAsShellsTellIt) {
  TaskEnd end;
  end.status = SIGSEGV;
  EXPECT_EQ(result_of(end).kind, EndKind::signalled);
  EXPECT_EQ(result_of(end).exit_code, 128 + SIGSEGV);
}

TEST(ShimResultTest, TheReasonOfTheShimCountsAndNotTheSignalThatItSent) {
  TaskEnd end;
  end.status = SIGKILL;
  const std::pair<Ending, EndKind> kinds[] = {{Ending::time, EndKind::timed_out},
                                              {Ending::disk, EndKind::disk_full},
                                              {Ending::processes, EndKind::too_many_processes},
                                              {Ending::lease, EndKind::lease_ended},
                                              {Ending::memory, EndKind::out_of_memory}};
  for (const auto& [why, kind] : kinds) {
    end.why = why;
    EXPECT_EQ(result_of(end).kind, kind);
  }
}

TEST(ShimResultTest, ATaskThatIsDoneWhenTheLeaseIsOverHasFinished) {
  TaskEnd end;
  end.why = Ending::lease;
  EXPECT_EQ(result_of(end).kind, EndKind::exited);
  EXPECT_TRUE(result_of(end).reason.empty());
}

TEST(ShimResultTest, ATaskThatIsOverItsMemoryWhileItStopsIsOutOfMemory) {
  TaskEnd end;
  end.why = Ending::stop;
  end.asked_to_stop = boot_time() - std::chrono::seconds{2};
  end.status = SIGKILL;
  end.over_bytes = 2048 * kMiB;
  const AttemptResult result = result_of(end);
  EXPECT_EQ(result.kind, EndKind::out_of_memory);
  EXPECT_NE(result.reason.find("2048 MiB"), std::string::npos);
  EXPECT_TRUE(result.stopped);
  EXPECT_GE(result.stopping, std::chrono::seconds{2});
}

TEST(ShimResultTest, TheFirstByteTooMuchCounts) {
  TaskEnd end;
  EXPECT_EQ(result_of(end).kind, EndKind::exited);
  end.over_bytes = 1;
  EXPECT_EQ(result_of(end).kind, EndKind::out_of_memory);
}

TEST(ShimResultTest, ATaskThatNeverRanHasNoTimes) {
  TaskEnd end;
  end.started_ns = 5;
  end.usage.ru_utime.tv_sec = 1;
  end.start_failure = "no such program";
  end.start_failure_kind = EndKind::not_started;
  end.start_failure_code = 127;
  const AttemptResult result = result_of(end);
  EXPECT_EQ(result.kind, EndKind::not_started);
  EXPECT_EQ(result.exit_code, 127);
  EXPECT_EQ(result.reason, "no such program");
  EXPECT_EQ(result.started_ns, 0);
  EXPECT_EQ(result.user_s, 0);
}

TEST(ShimResultTest, ThePeakIsTheHighestThatAnybodySaw) {
  TaskEnd end;
  end.usage.ru_maxrss = 2048;  // KiB
  end.peak_bytes = 3 * kMiB;
  EXPECT_EQ(result_of(end).peak_memory_bytes, 3 * kMiB);
  end.peak_bytes = kMiB;
  EXPECT_EQ(result_of(end).peak_memory_bytes, 2 * kMiB);
}

TEST(ShimResultTest, TimesAreThoseOfTheProcessAndOfTheWallsClock) {
  TaskEnd end;
  end.started_ns = 5;
  end.usage.ru_utime = {2, 500'000};
  end.usage.ru_stime = {1, 250'000};
  const AttemptResult result = result_of(end);
  EXPECT_EQ(result.user_s, 2.5);
  EXPECT_EQ(result.system_s, 1.25);
  EXPECT_EQ(result.started_ns, 5);
  EXPECT_GT(result.ended_ns, std::int64_t{1'700'000'000} * 1'000'000'000);
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.stopping, Duration::zero()) << "nobody has asked it to stop";
}

TEST(ShimResultTest, ReasonsNameTheBoundThatWasPassed) {
  TaskEnd end;
  Order order = order_of_a_gibibyte();
  order.program.time_limit = std::chrono::minutes{90};
  end.status = SIGKILL;
  end.over_processes = 11;
  end.disk_reason = "the disk is full";
  for (const Ending why : {Ending::none, Ending::time, Ending::disk, Ending::processes}) {
    end.why = why;
    EXPECT_THAT(result_of(end, order, nullptr).reason, test::IsGolden());
  }
  end.why = Ending::memory;
  end.over_bytes = 1100 * kMiB;
  EXPECT_THAT(result_of(end, order, nullptr).reason, test::IsGolden());
  end = {};
  end.status = exited_with(3);
  EXPECT_THAT(result_of(end, order, nullptr).reason, test::IsGolden());
}

/// A folder with the files that the kernel would have in a group.
class GroupResultTest : public ::testing::Test {
 protected:
  GroupResultTest() {
    order_.worker.means = LimitMeans::cgroup2;
    end_.status = SIGKILL;
    end_.usage.ru_maxrss = 1024;  // KiB
  }
  void kernel_says(const std::string& name, const std::string& text) {
    std::ofstream(files_.folder() / name) << text;
  }
  AttemptResult result() {
    const auto group = TaskGroup::find(files_.folder().string());
    return result_of(end_, order_, &*group);
  }

  test::TempFile files_{"kept", ""};
  Order order_ = order_of_a_gibibyte();
  TaskEnd end_;
};

TEST_F(GroupResultTest, ATaskThatTheKernelKilledForMemoryIsOutOfMemory) {
  kernel_says("memory.events", "oom_kill 1\n");
  kernel_says("memory.peak", std::to_string(900 * kMiB));
  EXPECT_EQ(result().kind, EndKind::out_of_memory);
  EXPECT_EQ(result().peak_memory_bytes, 900 * kMiB);
  EXPECT_THAT(result().reason, test::IsGolden());
  end_.status = exited_with(0);
  EXPECT_EQ(result().kind, EndKind::exited) << "one of its processes was killed, and it went on";
}

TEST_F(GroupResultTest, ASignalIsOneWhereTheKernelKilledNobody) {
  kernel_says("memory.events", "oom_kill 0\n");
  EXPECT_EQ(result().kind, EndKind::signalled);
  kernel_says("memory.events", "oom_kill 1\n");
  order_.worker.means = LimitMeans::cgroup2_kill;
  EXPECT_EQ(result().kind, EndKind::signalled) << "the group has no limit";
}

TEST_F(GroupResultTest, ThePeakOfAGroupCountsWhereItIsTheHighest) {
  kernel_says("memory.peak", "1");
  EXPECT_EQ(result().peak_memory_bytes, kMiB);
}

}  // namespace
}  // namespace muster::process
