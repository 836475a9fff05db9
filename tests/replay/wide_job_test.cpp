#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>

#include "tests/replay/replay_setup.hpp"

// What a replay takes for each task of a wide job: all of them wait, run and end at once.

namespace muster::replay {
namespace {

using test::SmallReplay;

/// Of the heap, and of what lies outside it. Where large tables lie goes by a threshold that the
/// allocator moves as it runs, unless it is set: they would count at one time and not at another.
std::size_t bytes_in_use() {
  static const int kIsSet = mallopt(M_MMAP_THRESHOLD, 128 << 10);
  EXPECT_EQ(kIsSet, 1);
  const auto now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

/// The most bytes that were in use at any event, beyond those before the run; 0 where another
/// allocator than that of the C library counts.
std::size_t most_bytes(std::size_t tasks, bool gang) {
  SmallReplay replay;
  replay.job(0, 600, Resources::of(0, 2, 4), tasks);
  replay.workload().jobs[0].job.gang = gang;
  RunSetup setup = replay.setup("no-packing", 1, std::nullopt);
  setup.keep_events = false;
  const std::size_t before = bytes_in_use();
  std::size_t most = before;
  std::size_t events = 0;
  setup.on_event = [&](const Event&) {
    // Looking costs more than most events do.
    if (++events % 1000 == 0) most = std::max(most, bytes_in_use());
  };
  const auto run = run_replay(setup);
  EXPECT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run->result.not_completed.empty());
  return most - before;
}

class WideJob : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Of, WideJob, ::testing::Bool(),
                         [](const auto& gang) { return gang.param ? "Gang" : "Array"; });

// The numbers are powers of two, so that tables that double are full. Each task has an instance.
TEST_P(WideJob, TakesMemoryByItsTasksThatIsBounded) {
  const std::size_t narrow = most_bytes(2048, GetParam());
  const std::size_t wide = most_bytes(4096, GetParam());
  EXPECT_LT((wide - narrow) / 2048, 7700U);
}

}  // namespace
}  // namespace muster::replay
