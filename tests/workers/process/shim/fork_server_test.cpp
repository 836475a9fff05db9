#include "workers/process/shim/fork_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>

#include "tests/support/golden.hpp"
#include "tests/support/process_host.hpp"
#include "workers/process/files/attempt_dir.hpp"

namespace muster::process {
namespace {
using muster::test::IsGolden;

/// Attempts without an order: their shims say so and end.
class ForkServerTest : public ::testing::Test {
 protected:
  ForkServer::Made make(ForkServer& server) {
    const std::filesystem::path path = files_.folder() / ("1." + std::to_string(++attempt_));
    std::filesystem::create_directory(path);
    const Descriptor folder = open_folder(path);
    const Descriptor lock = take_lock(folder.get());
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const Descriptor ours(ends[0]);
    const Descriptor theirs(ends[1]);
    return server.make_shim(path.filename().string(), lock.get(), theirs.get());
  }

  test::TempFile files_{"attempts", ""};
  std::filesystem::path program_ = test::process_options(files_.folder()).shim_program;
  int attempt_ = 0;
};

TEST_F(ForkServerTest, SaysWhichProcessAShimIs) {
  ForkServer server(program_, files_.folder());
  const auto made = make(server);
  EXPECT_EQ(made.trouble, "");
  EXPECT_GT(made.shim, 0);
  EXPECT_NE(made.shim, server.pid());
  EXPECT_NE(make(server).shim, made.shim);
}

TEST_F(ForkServerTest, IsReplacedWhenItWasKilled) {
  ForkServer server(program_, files_.folder());
  // A shim that is just forked has the server's end for a moment: an order would go nowhere.
  const pid_t shim = make(server).shim;
  for (int i = 0; i < 5000 && kill(shim, 0) == 0; ++i) usleep(1000);
  const pid_t first = server.pid();
  ASSERT_EQ(kill(first, SIGKILL), 0);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(first), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_GT(make(server).shim, 0);
  EXPECT_NE(server.pid(), first);
}

TEST_F(ForkServerTest, IsKilledWhenItDoesNotAnswerAndItsOrderIsNotGivenAgain) {
  ForkServer server(program_, files_.folder(), std::chrono::milliseconds{200});
  make(server);
  const pid_t first = server.pid();
  ASSERT_EQ(kill(first, SIGSTOP), 0);
  const auto made = make(server);
  EXPECT_EQ(made.shim, -1);
  EXPECT_EQ(made.trouble, "");
  EXPECT_NE(kill(first, 0), 0) << "it is gone, and reaped";
  EXPECT_GT(make(server).shim, 0);
}

TEST_F(ForkServerTest, SaysThatAProgramIsNoServer) {
  ForkServer server("/bin/true", files_.folder());
  const auto made = make(server);
  EXPECT_EQ(made.shim, -1);
  EXPECT_THAT(made.trouble, ::testing::AllOf(::testing::HasSubstr("/bin/true"), IsGolden()));
}

TEST_F(ForkServerTest, SaysThatAProgramSaysNothing) {
  // Without a word, and for longer than anybody waits: it ignores what it is called with.
  const std::filesystem::path silent = files_.folder() / "silent";
  std::ofstream(silent) << "#!/bin/sh\nexec sleep 100\n";
  std::filesystem::permissions(silent, std::filesystem::perms::owner_all);
  ForkServer server(silent, files_.folder(), std::chrono::milliseconds{200});
  EXPECT_THAT(make(server).trouble, ::testing::AllOf(::testing::HasSubstr("silent"), IsGolden()));
  EXPECT_EQ(server.pid(), -1);
}

}  // namespace
}  // namespace muster::process
