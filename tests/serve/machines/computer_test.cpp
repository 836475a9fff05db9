#include "serve/machines/computer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/support/temp_file.hpp"

namespace muster::machines {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

/// A folder that looks like /proc and /sys of a computer.
class ComputerTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const fs::path file = place_.folder() / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  Computer look() const { return look_at_computer(place_.folder()); }

  void memory_of(int total_gib, int free_gib) {
    constexpr int kKiBOfGiB = 1 << 20;
    write("proc/meminfo", "MemTotal:       " + std::to_string(total_gib * kKiBOfGiB) +
                              " kB\nMemFree:        1 kB\nMemAvailable:   " +
                              std::to_string(free_gib * kKiBOfGiB) + " kB\nBuffers: 3 kB\n");
  }

  test::TempFile place_{"unused", ""};
};

TEST_F(ComputerTest, TellsTheMemoryThatThereIsAndWhatIsFreeOfIt) {
  memory_of(8, 5);
  EXPECT_EQ(look().memory_bytes, 8 * kGiB);
  EXPECT_EQ(look().free_bytes, 5 * kGiB);
  EXPECT_GE(look().cores, 1U);
}

TEST_F(ComputerTest, IsNoLargerThanTheGroupsOfItsProcesses) {
  memory_of(64, 60);
  write("proc/self/cgroup", "0::/user/shell\n");
  write("sys/fs/cgroup/user/memory.max", std::to_string(4 * kGiB) + "\n");
  write("sys/fs/cgroup/user/memory.current", std::to_string(3 * kGiB) + "\n");
  write("sys/fs/cgroup/user/memory.stat",
        "anon 17\ninactive_file " + std::to_string(kGiB) + "\nactive_file 5\n");
  write("sys/fs/cgroup/user/shell/memory.max", "max\n");
  EXPECT_EQ(look().memory_bytes, 4 * kGiB);
  EXPECT_EQ(look().free_bytes, 2 * kGiB) << "files that nobody reads make room";
  write("sys/fs/cgroup/user/shell/memory.max", std::to_string(kGiB) + "\n");
  write("sys/fs/cgroup/user/shell/memory.current", std::to_string(2 * kGiB) + "\n");
  EXPECT_EQ(look().memory_bytes, kGiB);
  EXPECT_EQ(look().free_bytes, 0U);
}

TEST_F(ComputerTest, HasNoMoreCoresThanTheQuotaOfItsGroups) {
  write("proc/self/cgroup", "0::/user/shell\n");
  write("sys/fs/cgroup/user/shell/cpu.max", "max 100000\n");
  const std::uint32_t all = look().cores;
  write("sys/fs/cgroup/user/cpu.max", "1000000000 100000\n");
  EXPECT_EQ(look().cores, all) << "more than there are";
  write("sys/fs/cgroup/user/cpu.max", "100000 100000\n");
  EXPECT_EQ(look().cores, 1U);
  write("sys/fs/cgroup/user/cpu.max", "20000 100000\n");
  EXPECT_EQ(look().cores, 1U) << "a part of a core is one";
  write("sys/fs/cgroup/user/cpu.max", "120000 100000\n");
  EXPECT_EQ(look().cores, std::min(2U, all));
}

TEST_F(ComputerTest, HasNoMoreCoresThanTheQuotaOfAnOlderGroup) {
  write("proc/self/cgroup", "5:memory:/box\n4:cpu,cpuacct:/box\n0::/\n");
  const std::string cpu = "sys/fs/cgroup/cpu,cpuacct/";  // a container is shown its group as top
  write(cpu + "cpu.cfs_quota_us", "-1\n");
  write(cpu + "cpu.cfs_period_us", "100000\n");
  const std::uint32_t all = look().cores;
  write(cpu + "cpu.cfs_quota_us", "100000\n");
  EXPECT_EQ(look().cores, 1U);
  EXPECT_GE(all, look().cores);
}

TEST_F(ComputerTest, SetsNoLimitByWhatCannotBeRead) {
  EXPECT_GT(look().free_bytes, std::uint64_t{1} << 60);
}

TEST_F(ComputerTest, BearsWorkersByItsCoresAndItsMemory) {
  EXPECT_EQ(most_workers({.cores = 2, .memory_bytes = 4 * kGiB}), 32U);
  EXPECT_EQ(most_workers({.cores = 64, .memory_bytes = 4 * kGiB}), 32U);
  EXPECT_EQ(most_workers({.cores = 64, .memory_bytes = 512 * kGiB}), 1024U);
  EXPECT_EQ(most_workers({.cores = 1, .memory_bytes = kGiB / 8}), 4U);
}

}  // namespace
}  // namespace muster::machines
