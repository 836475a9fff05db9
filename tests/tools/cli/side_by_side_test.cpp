#include "tools/cli/side_by_side.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace muster::cli {
namespace {

using testing::Each;

TEST(SideBySide, EachPieceIsDoneOnce) {
  for (const std::size_t threads : {0U, 1U, 2U, 9U}) {
    std::vector<std::atomic<int>> done(5);
    side_by_side(done.size(), threads, [&](std::size_t i) { ++done.at(i); });
    EXPECT_THAT(std::vector<int>(done.begin(), done.end()), Each(1)) << threads;
  }
  side_by_side(0, 3, [](std::size_t) { ADD_FAILURE() << "there is nothing to do"; });
}

/// The threads that have worked, of which each waits until as many are there.
std::set<std::thread::id> threads_of(std::size_t count, std::size_t threads) {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  std::atomic<std::size_t> here{0};
  side_by_side(count, threads, [&](std::size_t) {
    {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    }
    ++here;
    while (here < std::min(count, threads)) std::this_thread::yield();
  });
  return ids;
}

TEST(SideBySide, WorksOnAsManyThreadsAsWantedAndTheCallersIsOneOfThem) {
  EXPECT_EQ(threads_of(3, 3).size(), 3U);
  EXPECT_EQ(threads_of(3, 3).count(std::this_thread::get_id()), 1U);
  EXPECT_EQ(threads_of(2, 8).size(), 2U) << "no more than there are pieces";
  EXPECT_EQ(threads_of(4, 1).size(), 1U);
}

}  // namespace
}  // namespace muster::cli
