#include "workers/process/keeper/keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/support/golden.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"
#include "tests/workers/process/keeper/fake_shim.hpp"
#include "tests/workers/process/keeper/tiny_server.hpp"
#include "workers/process/limits/limits.hpp"

namespace muster::process {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using test::IsGolden;

constexpr std::uint32_t kFirstPort = 46'000;
constexpr std::uint32_t kLastPort = 46'999;

HealthCheck shell_check(const std::string& text) {
  HealthCheck check;
  check.kind = CheckKind::command;
  check.command = {"/bin/sh", "-c", text};
  check.every = milliseconds{5};
  check.timeout = hours{1};
  check.failures = 2;
  return check;
}

/// A keeper in a process of its own, whose program is a shell script in the test's folder.
class KeeperTest : public testing::Test {
 protected:
  KeeperTest() {
    order_.first_port = kFirstPort;
    order_.last_port = kLastPort;
    order_.stop_grace = hours{1};
    order_.service.start_within = hours{1};
    pace_.first_pause = hours{1};
    pace_.longest_pause = hours{2};
    pace_.first_check = pace_.reconnect = milliseconds{2};
    std::filesystem::current_path(files_.folder());
    // Processes that a killed keeper leaves come to this one, for kill_descendants().
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~KeeperTest() override {
    kill_descendants();
    std::filesystem::current_path("/");
  }

  void keep(const std::string& script) { keep_program({"/bin/sh", "-c", script}); }
  void keep_program(std::vector<std::string> argv) {
    keeper_ = fork();
    if (keeper_ != 0) return;
    // As after exec: no socket of the test is this process's.
    syscall(SYS_close_range, 3u, ~0u, 0u);
    ProgramWords program{
        std::move(argv),
        {"PATH=/usr/bin:/bin", "MUSTER_PORT_HTTP=7", "MUSTER_SOCKET=" + shim_.socket()}};
    _exit(Keeper(order_, std::move(program), pace_).run());
  }
  void ask_to_stop() const { kill(keeper_, SIGTERM); }
  /// The keeper's exit code; -1 when it does not end.
  int end() {
    int status = 0;
    const bool ended =
        shim_.hear_until([&] { return waitpid(keeper_, &status, WNOHANG) == keeper_; });
    if (!ended) return -1;
    keeper_ = 0;
    return exit_code_of_status(status);
  }
  bool is_there(const std::string& file) { return std::filesystem::exists(file); }
  bool gets(const std::string& file) {
    return shim_.hear_until([&] { return is_there(file); });
  }
  static std::string content_of(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Whether the processes whose numbers are in the file are gone soon.
  bool are_gone(const std::string& file) {
    std::ifstream in(file);
    bool any = false;
    for (pid_t pid = 0; in >> pid;) {
      any = true;
      const bool gone = shim_.hear_until([pid] {
        std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
        std::string number, name, state;
        return !(stat >> number >> name >> state) || state == "Z";
      });
      if (!gone) return false;
    }
    return any;
  }
  std::uint32_t port_of(const std::string& name) {
    const std::string begin = "port " + name + " ";
    if (!shim_.hears(begin)) return 0;
    return static_cast<std::uint32_t>(std::stoul(shim_.line_with(begin).substr(begin.size())));
  }

  test::TempFile files_{"file", ""};
  test::FakeShim shim_;
  KeeperOrder order_;
  KeeperPace pace_;
  pid_t keeper_ = 0;
};

TEST_F(KeeperTest, AProgramFindsItsPortsAndIsReadyWhileItRuns) {
  order_.service.ports = {"http", "admin_2"};
  keep("echo $MUSTER_PORT_HTTP $MUSTER_PORT_ADMIN_2 > mine; mv mine ports; exec sleep 1000");
  ASSERT_TRUE(shim_.hears("replica ready 0 0 0"));
  ASSERT_TRUE(gets("ports"));
  const std::uint32_t http = port_of("http");
  const std::uint32_t admin = port_of("admin_2");
  EXPECT_GE(http, kFirstPort);
  EXPECT_LE(http, kLastPort);
  EXPECT_EQ(content_of("ports"), std::to_string(http) + " " + std::to_string(admin) + "\n");
  const std::size_t from = shim_.lines.size();
  ask_to_stop();
  EXPECT_EQ(end(), 128 + SIGTERM);
  EXPECT_TRUE(shim_.hears("replica up 0 0 0", from));
}

TEST_F(KeeperTest, AProgramThatEndsIsRestartedAtOnceAndThenAfterAPause) {
  keep("echo run >> runs; exit 3");
  ASSERT_TRUE(shim_.hears("replica down 1 3 "));
  EXPECT_EQ(content_of("runs"), "run\nrun\n");
  ask_to_stop();
  EXPECT_EQ(end(), 128 + SIGTERM) << "no program runs";
}

TEST_F(KeeperTest, PausesGoByAndEndsBySignalsAreEndsToo) {
  pace_.first_pause = milliseconds{1};
  pace_.longest_pause = milliseconds{2};
  keep("kill -9 $$");
  EXPECT_TRUE(shim_.hears("replica down 4 137 "));
}

TEST_F(KeeperTest, EndsAreForgottenAfterALongTimeOfBeingReady) {
  pace_.forget_after = milliseconds{1};
  keep("sleep 0.03; exit 1");
  EXPECT_TRUE(shim_.hears("replica ready 3 1 0")) << "each restart is at once";
}

TEST_F(KeeperTest, AProgramThatCannotBeExecutedIsAnEndWithItsReason) {
  keep_program({"/nowhere/server"});
  ASSERT_TRUE(shim_.hears("replica down 1 127 "));
  EXPECT_THAT(shim_.line_with("trouble"), IsGolden());
  EXPECT_EQ(shim_.line_with("replica ready"), "");
}

TEST_F(KeeperTest, TheHttpCheckDecidesWhetherItIsReady) {
  order_.service.ports = {"http"};
  HealthCheck& ready = order_.service.ready;
  ready = {.kind = CheckKind::http, .port = "http", .path = "/healthz", .command = {}};
  ready.every = milliseconds{5};
  ready.failures = 2;
  keep("exec sleep 1000");
  const std::uint32_t port = port_of("http");
  ASSERT_TRUE(shim_.hears("trouble GET /healthz of port http: "));
  EXPECT_EQ(shim_.line_with("replica ready"), "");
  test::TinyServer server(port);
  ASSERT_EQ(server.port(), port);
  server.answer_by("HTTP/1.1 200 OK\r\n\r\n");
  const auto serves_until = [&](const std::string& line, std::size_t from) {
    return shim_.hear_until([&] {
      server.serve();
      return !shim_.line_with(line, from).empty();
    });
  };
  ASSERT_TRUE(serves_until("replica ready 0 0 0", 0));
  std::size_t from = shim_.lines.size();
  server.answer_by("HTTP/1.1 503 Later\r\n\r\n");
  ASSERT_TRUE(serves_until("replica up 0 0 0", from));
  EXPECT_NE(shim_.line_with("trouble GET /healthz of port http: ", from), "");
  from = shim_.lines.size();
  server.answer_by("HTTP/1.1 200 OK\r\n\r\n");
  ASSERT_TRUE(serves_until("replica ready 0 0 0", from));
  EXPECT_EQ(shim_.line_with("trouble", from), "trouble ") << "it is well again";
}

TEST_F(KeeperTest, ThePrintedNumberOfAProbeIsSaidAsAMetric) {
  ServiceGoal& goal = order_.service.goal;
  goal.metric = "p99_ms";
  goal.probe = {"/bin/sh", "-c", "cat number"};
  goal.every = milliseconds{5};
  keep("echo 12.5 > number; exec sleep 1000");
  EXPECT_TRUE(shim_.hears("metric p99_ms 12.5"));
  const std::size_t from = shim_.lines.size();
  std::ofstream("number") << "much";
  EXPECT_TRUE(shim_.hears("trouble probe /bin/sh: prints no number", from));
  EXPECT_EQ(shim_.line_with("replica up", from), "") << "its clients go on";
}

TEST_F(KeeperTest, AProgramThatIsNoLongerAliveIsKilledAndRestarted) {
  order_.service.alive = shell_check("test -e well && touch passed");
  keep("touch well; exec sleep 1000");
  ASSERT_TRUE(gets("passed"));
  std::filesystem::remove("well");
  EXPECT_TRUE(shim_.hears("replica ready 1 137 0"));
}

TEST_F(KeeperTest, AProgramThatIsStillStartingNeedNotBeAlive) {
  order_.service.alive = shell_check("echo run >> checks; test -e well");
  keep("exec sleep 1000");
  ASSERT_TRUE(shim_.hear_until([&] { return content_of("checks").size() > 40; }));
  EXPECT_EQ(shim_.line_with("replica ready 1"), "");
  std::ofstream("well").close();
  const std::size_t size = content_of("checks").size();
  ASSERT_TRUE(shim_.hear_until([&] { return content_of("checks").size() > size + 8; }));
  std::filesystem::remove("well");
  EXPECT_TRUE(shim_.hears("replica ready 1 137 0")) << "from now on it has to be";
}

TEST_F(KeeperTest, AProgramThatDoesNotGetReadyInTimeIsKilled) {
  order_.service.ready = shell_check("exec sleep 1000");
  order_.service.start_within = milliseconds{50};
  keep("exec sleep 1000");
  ASSERT_TRUE(shim_.hears("replica down 1 137 "));
  EXPECT_THAT(shim_.line_with("trouble"), IsGolden());
  EXPECT_EQ(shim_.line_with("replica ready"), "");
}

TEST_F(KeeperTest, TheLastFailureIsSaidOfAProgramThatDoesNotGetReady) {
  order_.service.ready = shell_check("exit 4");
  order_.service.start_within = milliseconds{300};
  keep("exec sleep 1000");
  ASSERT_TRUE(shim_.hears("trouble not ready"));
  EXPECT_TRUE(shim_.line_with("trouble /bin/sh: ").empty() ||
              shim_.line_with("trouble not ready").ends_with("exit code 4"))
      << shim_.line_with("trouble not ready");
}

TEST_F(KeeperTest, ALineIsTheProgramsOwnToSay) {
  order_.service.ready.kind = CheckKind::line;
  order_.service.start_within = milliseconds{1};
  keep("exec sleep 1000");
  ASSERT_TRUE(shim_.hears("replica ready 0 0 0"));
  shim_.hear_once(milliseconds{20});
  ask_to_stop();
  EXPECT_EQ(end(), 128 + SIGTERM);
}

TEST_F(KeeperTest, WhateverAnEndedProgramLeftIsGoneBeforeItsRestart) {
  keep(
      "sleep 1000 & echo $! >> left; setsid sleep 1001 & echo $! >> left; "
      "test -e again && exec sleep 1000; sleep 0.05; touch again");
  ASSERT_TRUE(shim_.hears("replica ready 1 0 0"));
  std::ifstream in("left");
  std::string first, daemon;
  in >> first >> daemon;
  std::ofstream("first") << first << ' ' << daemon;
  EXPECT_TRUE(are_gone("first"));
}

TEST_F(KeeperTest, InADrainAProgramIsLeftAloneUntilItEndsByItself) {
  order_.service.drain = hours{1};
  keep("trap 'touch asked' TERM; touch runs; while ! test -e go; do sleep 0.01; done; exit 7");
  ASSERT_TRUE(shim_.hears("replica ready") && gets("runs"));
  const std::size_t from = shim_.lines.size();
  ask_to_stop();
  ASSERT_TRUE(shim_.hears("replica up 0 0 0", from));
  EXPECT_FALSE(is_there("asked"));
  std::ofstream("go").close();
  EXPECT_EQ(end(), 7);
  EXPECT_EQ(shim_.line_with("replica down"), "");
}

TEST_F(KeeperTest, ASecondRequestEndsTheDrain) {
  order_.service.drain = hours{1};
  keep("trap 'exit 9' TERM; touch runs; while :; do sleep 0.01; done");
  ASSERT_TRUE(shim_.hears("replica ready") && gets("runs"));
  const std::size_t from = shim_.lines.size();
  ask_to_stop();
  ASSERT_TRUE(shim_.hears("replica up 0 0 0", from));
  ask_to_stop();
  EXPECT_EQ(end(), 9);
}

TEST_F(KeeperTest, AProgramThatDoesNotStopIsKilledAfterItsGrace) {
  order_.service.drain = milliseconds{1};
  order_.stop_grace = milliseconds{20};
  keep("trap '' TERM; touch runs; while :; do sleep 0.01; done");
  ASSERT_TRUE(gets("runs"));
  ask_to_stop();
  EXPECT_EQ(end(), 128 + SIGKILL);
}

TEST_F(KeeperTest, WithoutAPortItSaysSoAndTriesAgain) {
  auto taken = PortClaims::make({"http"}, kFirstPort, kLastPort, 77);
  ASSERT_TRUE(taken);
  order_.first_port = order_.last_port = taken->ports()[0].number;
  order_.service.ports = {"http"};
  pace_.first_pause = pace_.longest_pause = milliseconds{5};
  keep("exec sleep 1000");
  ASSERT_TRUE(shim_.hears("replica down 0 0 "));
  const std::string number = std::to_string(order_.first_port);
  EXPECT_TRUE(shim_.line_with("trouble").ends_with("from " + number + " to " + number));
  EXPECT_EQ(shim_.line_with("port"), "");
  taken.reset();
  EXPECT_TRUE(shim_.hears("replica ready 0 0 0"));
  EXPECT_EQ(port_of("http"), order_.first_port);
}

TEST_F(KeeperTest, ItsProgramDiesWithIt) {
  keep("echo $$ > mine; mv mine pid; exec sleep 1000");
  ASSERT_TRUE(gets("pid"));
  kill(keeper_, SIGKILL);
  EXPECT_EQ(end(), 128 + SIGKILL);
  EXPECT_TRUE(are_gone("pid"));
}

TEST_F(KeeperTest, ATroubleFitsIntoALineOfBoundedLength) {
  const std::string long_word(300, 'x');
  keep_program({"/nowhere/\x01" + long_word});
  ASSERT_TRUE(shim_.hears("trouble "));
  const std::string line = shim_.line_with("trouble ");
  EXPECT_EQ(line.size(), std::string("trouble ").size() + kMostTroubleBytes);
  EXPECT_EQ(line.find('\x01'), std::string::npos);
}

/// The program that shims call.
class KeepProgram : public KeeperTest {
 protected:
  void call(const std::vector<std::string>& words) {
    const std::string program = test::built_program("muster-shim");
    keeper_ = fork();
    if (keeper_ != 0) return;
    setenv("MUSTER_SOCKET", shim_.socket().c_str(), 1);
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    _exit(126);
  }
};

TEST_F(KeepProgram, KeepsTheProgramOfItsCommandLine) {
  order_.service.ports = {"http"};
  call({"keep", to_text(order_), "--", "/bin/sh", "-c", "exec sleep 1000", "--", "x y"});
  ASSERT_TRUE(shim_.hears("replica ready 0 0 0"));
  EXPECT_NE(port_of("http"), 0U);
  ask_to_stop();
  EXPECT_EQ(end(), 128 + SIGTERM);
}

TEST_F(KeepProgram, OrdersThatAreNoneAreErrorsOfUsage) {
  const std::vector<std::vector<std::string>> all{{"keep"},
                                                  {"keep", "{}"},
                                                  {"keep", to_text(order_), "--"},
                                                  {"keep", to_text(order_), "true", "true"},
                                                  {"keep", "{", "--", "true"},
                                                  {"keep", "{}", "--", "true"}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    call(all[i]);
    EXPECT_EQ(end(), 2) << i;
  }
}

}  // namespace
}  // namespace muster::process
