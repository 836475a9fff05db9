#include "workers/process/shim/shim.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/process_host.hpp"
#include "workers/process/shim/line_server.hpp"
#include "workers/process/shim/shim_server.hpp"
#include "workers/process/shim/shim_sockets.hpp"

// The small program by itself, with an attempt or as a server, as no worker would call it.

namespace muster::process {
namespace {

namespace fs = std::filesystem;
using test::content_of;
using testing::AllOf;
using testing::EndsWith;
using testing::StartsWith;

/// All that comes until the other end is closed.
std::string heard(const Descriptor& from) {
  std::string all;
  char chunk[4096];
  pollfd polled{from.get(), POLLIN, 0};
  while (poll(&polled, 1, 20'000) == 1) {
    const ssize_t got = recv(from.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (got <= 0) return all;
    all.append(chunk, static_cast<std::size_t>(got));
  }
  return all + "(still open)";
}

class ShimProgramTest : public ::testing::Test {
 protected:
  ShimProgramTest() { fs::create_directory(attempt_); }

  pid_t start(const std::vector<std::string>& words, int orders = -1) {
    std::vector<char*> argv{const_cast<char*>(program_.c_str())};
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    // A descriptor that a test has open would be taken for a lock.
    const int first = orders >= 0 ? kServerOrders + 1 : kServerOrders;
    if (orders >= 0) posix_spawn_file_actions_adddup2(&actions, orders, kServerOrders);
    posix_spawn_file_actions_addclosefrom_np(&actions, first);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawn(&pid, program_.c_str(), &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
  }
  static int code_of(pid_t pid) {
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int run(const std::vector<std::string>& words) { return code_of(start(words)); }
  void order(const std::string& script) {
    Order order;
    order.task.id = TaskId{1};
    order.attempt = 1;
    order.granted = Resources::of(0, 1, 1);
    order.program.argv = {"/bin/sh", "-c", script};
    order.program.stop_grace = std::chrono::seconds{20};
    order.worker.checkpoint_dir = (files_.folder() / "checkpoints").string();
    order.worker.memory_interval = std::chrono::milliseconds{20};
    order.worker.log_file_bytes = 4096;
    order.worker.control = control_;
    write_whole(open_folder(attempt_).get(), kOrderFile, to_text(order), false);
  }
  std::optional<AttemptResult> result() { return result_from(content_of(attempt_ / kResultFile)); }
  bool appears(const fs::path& file) {
    for (int i = 0; i < 30'000 && !fs::exists(file); ++i) usleep(2000);
    return fs::exists(file);
  }

  test::TempFile files_{"kept", ""};
  std::string program_ = test::process_options(files_.folder()).shim_program.string();
  fs::path attempt_ = files_.folder() / "1.1";
  std::string control_ = random_name();
};

TEST_F(ShimProgramTest, TakesNoOtherWords) {
  EXPECT_EQ(run({}), 2);
  EXPECT_EQ(run({"shim"}), 2);
  EXPECT_EQ(run({"other", attempt_.string()}), 2);
  EXPECT_EQ(run({"shim", attempt_.string(), "more"}), 2);
  EXPECT_EQ(run({kShimServerVerb, attempt_.string()}), 2);
}

TEST_F(ShimProgramTest, WithoutAnAttemptsOrderDoesNothing) {
  EXPECT_EQ(run({"shim", (files_.folder() / "none").string()}), 1);
  EXPECT_EQ(run({"shim", attempt_.string()}), 1);
  write_whole(open_folder(attempt_).get(), kOrderFile, "{}", false);
  EXPECT_EQ(run({"shim", attempt_.string()}), 1);
  EXPECT_FALSE(result());
}

TEST_F(ShimProgramTest, RunsAnAttemptByItsFolderAloneAndIsTheOnlyOne) {
  order("echo out; echo err >&2; exit 3");
  Descriptor lock = take_lock(open_folder(attempt_).get());
  EXPECT_EQ(run({"shim", attempt_.string()}), 1) << "another one is at it";
  EXPECT_FALSE(result());
  lock.reset();
  EXPECT_EQ(run({"shim", attempt_.string()}), 0);
  ASSERT_TRUE(result());
  EXPECT_EQ(result()->exit_code, 3);
  EXPECT_EQ(result()->key, (AttemptKey{TaskId{1}, 1}));
  EXPECT_EQ(result()->out_bytes, 4u);
  EXPECT_EQ(content_of(attempt_ / "out.0"), "out\n");
  EXPECT_EQ(content_of(attempt_ / "err.0"), "err\n");
  EXPECT_FALSE(fs::exists(files_.folder() / "checkpoints")) << "nothing is in it";
  EXPECT_EQ(fs::status(attempt_ / "out.0").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ShimProgramTest, HeedsNoSignalButTheOneThatStopsItsTask) {
  const fs::path running = files_.folder() / "running";
  order("trap 'exit 9' TERM; touch " + running.string() + "; while :; do sleep 0.01; done");
  const pid_t shim = start({"shim", attempt_.string()});
  ASSERT_TRUE(appears(running));
  for (const int number : {SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2}) {
    EXPECT_EQ(kill(shim, number), 0);
  }
  EXPECT_EQ(waitpid(shim, nullptr, WNOHANG), 0);
  kill(shim, SIGTERM);
  EXPECT_EQ(code_of(shim), 0);
  ASSERT_TRUE(result());
  EXPECT_TRUE(result()->stopped);
  EXPECT_EQ(result()->exit_code, 9);
}

TEST_F(ShimProgramTest, IsFoundByTheNameOfItsOrderAndTakesOrdersThatAreLines) {
  const fs::path running = files_.folder() / "running";
  order("touch " + running.string() + "; exec sleep 100");
  const pid_t shim = start({"shim", attempt_.string()});
  ASSERT_TRUE(appears(running));
  const Descriptor wrong = connect_abstract(control_);
  ASSERT_TRUE(wrong);
  EXPECT_TRUE(send_text(wrong.get(), "halt\n"));
  const std::string cut = heard(wrong);
  EXPECT_EQ(cut, "shim " + std::to_string(shim) + "\nstarted\ntells usage\n")
      << "and then it is cut off";
  const Descriptor right = connect_abstract(control_);
  EXPECT_TRUE(send_text(right.get(), "stop\n"));
  EXPECT_EQ(code_of(shim), 0);
  ASSERT_TRUE(result());
  EXPECT_TRUE(result()->stopped);
  EXPECT_EQ(result()->exit_code, 128 + SIGTERM);
}

/// The server, which forks a shim for each order that comes with a lock and a channel.
class ShimServerTest : public ShimProgramTest {
 protected:
  ShimServerTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    orders_ = Descriptor(ends[0]);
    const Descriptor theirs(ends[1]);
    server_ =
        start({kShimServerVerb, files_.folder().string(), std::string(kLongestAttemptName, '-')},
              theirs.get());
    char ready = 0;
    EXPECT_EQ(recv(orders_.get(), &ready, sizeof ready, 0), 1);
    EXPECT_EQ(ready, kServerReady);
  }
  ~ShimServerTest() override {
    orders_.reset();
    EXPECT_EQ(code_of(server_), 0) << "it ends when nobody can give it orders any more";
  }
  void say(const std::string& name, const std::vector<int>& descriptors) {
    alignas(cmsghdr) char room[CMSG_SPACE(4 * sizeof(int))] = {};
    iovec text{const_cast<char*>(name.data()), name.size()};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    const std::size_t bytes = descriptors.size() * sizeof(int);
    if (bytes > 0) {
      message.msg_control = room;
      message.msg_controllen = CMSG_SPACE(bytes);
      cmsghdr* head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(bytes);
      std::memcpy(CMSG_DATA(head), descriptors.data(), bytes);
    }
    EXPECT_GT(sendmsg(orders_.get(), &message, MSG_NOSIGNAL), 0);
  }
  /// The server's answer to an order; it has answered no other before.
  std::int32_t answer() {
    std::int32_t shim = 0;
    EXPECT_EQ(recv(orders_.get(), &shim, sizeof shim, 0), static_cast<ssize_t>(sizeof shim));
    return shim;
  }

  Descriptor orders_;
  pid_t server_ = -1;
};

TEST_F(ShimServerTest, MakesNoShimOfAnOrderThatIsNotWhole) {
  order("exit 3");
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  const Descriptor lock = take_lock(open_folder(attempt_).get());
  say("1.1", {});
  say("1.1", {theirs.get()});
  say("../1.1", {lock.get(), theirs.get()});
  say("1.1", {lock.get(), theirs.get()});
  theirs.reset();
  EXPECT_GT(answer(), 0) << "the only one that is answered";
  EXPECT_THAT(heard(ours), AllOf(StartsWith("shim "), EndsWith("\nstarted\ntells usage\n")))
      << "and nobody else has kept the channel open";
  ASSERT_TRUE(result());
  EXPECT_EQ(result()->exit_code, 3);
}

}  // namespace
}  // namespace muster::process
