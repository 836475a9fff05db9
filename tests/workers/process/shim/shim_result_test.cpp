#include "workers/process/shim/shim_result.hpp"

#include <gtest/gtest.h>

#include <csignal>

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
                                              {Ending::memory, EndKind::out_of_memory}};
  for (const auto& [why, kind] : kinds) {
    end.why = why;
    EXPECT_EQ(result_of(end).kind, kind);
  }
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

}  // namespace
}  // namespace muster::process
