#include "tools/cli/interrupt_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

namespace muster::cli {
namespace {

bool is_blocked(int signal) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

TEST(InterruptWatchTest, WithoutAnInterruptAPauseGoesToItsEnd) {
  const InterruptWatch watch;
  EXPECT_FALSE(watch.interrupted());
  EXPECT_TRUE(watch.pause(std::chrono::milliseconds{60}));
  EXPECT_TRUE(watch.pause(Duration::zero()));
}

TEST(InterruptWatchTest, AnInterruptEndsEveryPauseAndNotTheProcess) {
  {
    const InterruptWatch watch;
    raise(SIGINT);
    EXPECT_TRUE(watch.interrupted());
    EXPECT_FALSE(watch.pause(std::chrono::hours{1}));
    EXPECT_TRUE(watch.interrupted()) << "it stays until somebody has heeded it";
  }
  EXPECT_FALSE(is_blocked(SIGINT)) << "and it has not come when signals come again";
  const InterruptWatch later;
  EXPECT_FALSE(later.interrupted());
}

TEST(InterruptWatchTest, LeavesOtherSignalsAsTheyAre) {
  const InterruptWatch watch;
  EXPECT_TRUE(is_blocked(SIGINT));
  EXPECT_FALSE(is_blocked(SIGTERM));
}

}  // namespace
}  // namespace muster::cli
