// `muster progress` within a task, whose worker's end of the socket stands here.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdlib>
#include <thread>
#include <tuple>

#include "tests/support/golden.hpp"
#include "tests/tools/cli/run_command.hpp"
#include "workers/process/descriptor.hpp"
#include "workers/process/shim/shim_sockets.hpp"

namespace muster::cli {
namespace {

using muster::test::IsGolden;
using process::Descriptor;
using testing::ElementsAre;
using testing::HasSubstr;

Ran progress(Words words) {
  CLI::App app;
  int exit_code = kDone;
  add_progress(app, exit_code);
  words.insert(words.begin(), "progress");
  return run_words(app, exit_code, std::move(words));
}

/// Takes one connection and answers each of its lines, in their order.
class ProgressTest : public ::testing::Test {
 protected:
  ~ProgressTest() override {
    if (thread_.joinable()) thread_.join();
    unsetenv("MUSTER_SOCKET");
  }
  /// From now on a worker listens, under an abstract name or at a path.
  void answers(std::vector<std::string> answers, bool at_path = false) {
    std::string name = "@" + process::random_name();
    if (at_path) {
      std::tie(listening_, name) = process::listen_for_task(-1, files_.folder().string(), {});
    } else {
      listening_ = process::listen_abstract(name.substr(1));
    }
    ASSERT_TRUE(listening_);
    setenv("MUSTER_SOCKET", name.c_str(), 1);
    // A worker's listener does not block: this one waits, but not for ever.
    fcntl(listening_.get(), F_SETFL, 0);
    const timeval patience{20, 0};
    setsockopt(listening_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    thread_ = std::thread([this, answers = std::move(answers)] {
      const Descriptor peer(accept(listening_.get(), nullptr, nullptr));
      for (const std::string& answer : answers) {
        std::string line;
        char c = 0;
        while (recv(peer.get(), &c, 1, 0) == 1 && c != '\n') line += c;
        heard_.push_back(line);
        send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      }
    });
  }
  std::vector<std::string> heard() {
    thread_.join();
    return heard_;
  }

  test::TempFile files_{"kept", ""};
  Descriptor listening_;
  std::thread thread_;
  std::vector<std::string> heard_;
};

TEST_F(ProgressTest, SaysMetricsAndThenTheUnits) {
  answers({"ok\n", "ok\n", "ok\n"});
  const Ran ran = progress({"12.5", "--metric", "a=1", "--metric", "b_2=-3e5"});
  EXPECT_EQ(ran.exit_code, kDone);
  EXPECT_EQ(ran.out + ran.err, "");
  EXPECT_THAT(heard(), ElementsAre("metric a 1", "metric b_2 -3e5", "progress 12.5"));
}

TEST_F(ProgressTest, FindsItsWorkerByAPathToo) {
  answers({"ok\n"}, true);
  EXPECT_EQ(progress({"1"}).exit_code, kDone);
  EXPECT_THAT(heard(), ElementsAre("progress 1"));
}

TEST_F(ProgressTest, FailsForWhatWasNotTakenAndSaysTheOthersNevertheless) {
  answers({"error: no\n", "ok\n"});
  const Ran ran = progress({"1", "--metric", "a=1"});
  EXPECT_EQ(ran.exit_code, kFailed);
  EXPECT_THAT(ran.err, IsGolden());
  EXPECT_THAT(heard(), ElementsAre("metric a 1", "progress 1"));
}

TEST_F(ProgressTest, FailsForUnitsThatWereNotTakenOrNotAnswered) {
  answers({"error: progress does not go back\n"});
  EXPECT_THAT(progress({"1"}).err, IsGolden());
  heard();
  answers({std::string(300, 'x')});
  const Ran endless = progress({"1"});
  EXPECT_EQ(endless.exit_code, kFailed);
  EXPECT_THAT(endless.err, IsGolden());
  heard();
  answers({""});
  EXPECT_THAT(progress({"1"}).err, IsGolden());
}

TEST_F(ProgressTest, SaysNothingThatItsWorkerWouldNotTake) {
  setenv("MUSTER_SOCKET", (files_.folder() / "none").c_str(), 1);
  for (const Words& words :
       {Words{}, Words{"x"}, Words{"-1"}, Words{"1e16"}, Words{"--metric", "a"},
        Words{"--metric", "A=1"}, Words{"--metric", "a=x"}, Words{"1", "--metric", "a="}}) {
    EXPECT_EQ(progress(words).exit_code, kUsage) << testing::PrintToString(words);
  }
  EXPECT_THAT(progress({}).err, IsGolden());
  EXPECT_THAT(progress({"x"}).err, IsGolden());
  EXPECT_THAT(progress({"--metric", "a"}).err, IsGolden());
}

TEST_F(ProgressTest, IsForTasksAlone) {
  unsetenv("MUSTER_SOCKET");
  const Ran outside = progress({"1"});
  EXPECT_EQ(outside.exit_code, kFailed);
  EXPECT_THAT(outside.err, IsGolden());
  setenv("MUSTER_SOCKET", "", 1);
  EXPECT_EQ(progress({"1"}).err, outside.err);
}

TEST_F(ProgressTest, NamesTheSocketWhereNobodyListens) {
  setenv("MUSTER_SOCKET", (files_.folder() / "none").c_str(), 1);
  const Ran gone = progress({"1"});
  EXPECT_EQ(gone.exit_code, kFailed);
  EXPECT_THAT(gone.err, IsGolden());
  setenv("MUSTER_SOCKET", std::string(200, 'x').c_str(), 1);
  EXPECT_THAT(progress({"1"}).err, HasSubstr("too long"));
}

}  // namespace
}  // namespace muster::cli
