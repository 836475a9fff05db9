#include "workers/process/shim/shim_usage.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_file.hpp"

namespace muster::process {
namespace {

constexpr UsageLook kLook{Duration{5}, {Duration{7}, 300}, 200};

TEST(ShimUsageTest, ALookIsReadAsItWasTold) {
  const std::string line = usage_line(kLook);
  EXPECT_EQ(line.back(), '\n');
  EXPECT_EQ(usage_from(std::string_view(line).substr(0, line.size() - 1)), kLook);
}

TEST(ShimUsageTest, AnotherLineIsNoLook) {
  for (const char* line :
       {"", "used", "used ", "used 1 2 3", "used 1 2 3 4 5", "used 1 2 3 -4", "used 1 2 3 x",
        "used 1  2 3 4", "used 1 2 3 4 ", "usage", "used 1 2 3 99999999999999999999"}) {
    EXPECT_FALSE(usage_from(line)) << line;
  }
}

TEST(ShimUsageTest, TheKernelsFiguresOfAGroupGoBeforeALookAtProcesses) {
  const test::TempFile files{"kept", ""};
  const auto says = [&](const char* name, const char* text) {
    std::ofstream(files.folder() / name) << text;
  };
  says("memory.current", "1073741824\n");
  says("memory.peak", "2147483648\n");
  says("cpu.stat", "usage_usec 3500000\nuser_usec 3000000\nsystem_usec 500000\n");
  const auto group = TaskGroup::find(files.folder().string());
  TaskEnd end;
  const UsageLook look = look_at_task(&*group, end);
  EXPECT_EQ(look.memory_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(look.so_far.peak_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(look.so_far.cpu, std::chrono::milliseconds{3500});
  EXPECT_GT(look.at, Duration::zero());
}

TEST(ShimUsageTest, ThePeakIsKeptForTheEnd) {
  TaskEnd end;
  end.peak_bytes = std::uint64_t{1} << 50;
  EXPECT_EQ(look_at_task(nullptr, end).so_far.peak_bytes, std::uint64_t{1} << 50);
  end.peak_bytes = 0;
  const UsageLook look = look_at_task(nullptr, end);
  EXPECT_EQ(end.peak_bytes, look.so_far.peak_bytes);
}

}  // namespace
}  // namespace muster::process
