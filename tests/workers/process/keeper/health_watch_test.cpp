#include "workers/process/keeper/health_watch.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <fstream>

#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"
#include "tests/workers/process/keeper/tiny_server.hpp"
#include "workers/process/progress.hpp"

namespace muster::process {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using test::IsGolden;

HealthCheck often(CheckKind kind) {
  HealthCheck check;
  check.kind = kind;
  check.port = "http";
  check.path = "/healthz";
  check.every = milliseconds{2};
  check.timeout = milliseconds{20};
  check.failures = 2;
  return check;
}

HealthCheck shell(const std::string& text) {
  HealthCheck check = often(CheckKind::command);
  check.command = {"/bin/sh", "-c", text};
  check.timeout = hours{1};
  return check;
}

class HealthWatchTest : public testing::Test {
 protected:
  HealthWatch begun(const HealthCheck& check) {
    HealthWatch watch(check);
    watch.begin({{"admin", 1}, {"http", server_.port()}}, {"MARK=there"}, milliseconds{1});
    return watch;
  }
  /// False when the condition does not hold within a minute.
  template <class Condition>
  bool goes_on(HealthWatch& watch, const Condition& until) {
    const Duration deadline = boot_time() + std::chrono::minutes{1};
    while (!until()) {
      if (boot_time() > deadline) return false;
      server_.serve();
      watch.go_on();
      int status = 0;
      const pid_t ended = waitpid(-1, &status, WNOHANG);
      if (ended > 0) watch.take_end(ended, status);
      std::vector<pollfd> polled;
      watch.add_to(polled);
      poll(polled.data(), polled.size(), 1);
    }
    return true;
  }
  bool gets_well(HealthWatch& watch) {
    return goes_on(watch, [&] { return watch.is_well(); });
  }
  bool fails(HealthWatch& watch) {
    return goes_on(watch, [&] { return watch.streak().has_failed(); });
  }

  test::TinyServer server_;
};

TEST_F(HealthWatchTest, WithoutAQuestionAProgramIsWell) {
  for (const CheckKind kind : {CheckKind::nothing, CheckKind::line}) {
    HealthWatch watch = begun(often(kind));
    EXPECT_FALSE(watch.asks());
    EXPECT_TRUE(watch.is_well());
    EXPECT_EQ(watch.due(), Duration::max());
  }
}

TEST_F(HealthWatchTest, AnHttpCheckAsksThePortOfItsName) {
  HealthWatch watch = begun(often(CheckKind::http));
  EXPECT_FALSE(watch.is_well());
  server_.answer_by("HTTP/1.1 200 OK\r\n\r\n");
  ASSERT_TRUE(gets_well(watch));
  EXPECT_EQ(watch.failure(), "");
  server_.answer_by("HTTP/1.1 503 No\r\n\r\n");
  ASSERT_TRUE(fails(watch));
  EXPECT_FALSE(watch.is_well());
  EXPECT_THAT(watch.failure(), IsGolden());
}

TEST_F(HealthWatchTest, AServerThatSaysNothingIsNotWaitedForLongerThanTheTimeout) {
  HealthWatch watch = begun(often(CheckKind::http));
  ASSERT_TRUE(fails(watch));
  EXPECT_GE(server_.requests.size(), 2U);
  EXPECT_THAT(watch.failure(), IsGolden());
}

TEST_F(HealthWatchTest, ATcpCheckWantsAConnection) {
  HealthWatch watch = begun(often(CheckKind::tcp));
  ASSERT_TRUE(gets_well(watch));
  std::optional<test::TinyServer> gone(std::in_place);
  HealthWatch other(often(CheckKind::tcp));
  other.begin({{"http", gone->port()}}, {}, {});
  gone.reset();
  ASSERT_TRUE(fails(other));
  EXPECT_THAT(other.failure(), IsGolden());
}

TEST_F(HealthWatchTest, OnlyUntilACheckPassesTheyFollowFasterThanTheirTime) {
  HealthCheck check = often(CheckKind::http);
  check.every = hours{2};
  check.timeout = std::chrono::minutes{1};
  check.successes = 2;
  HealthWatch watch = begun(check);
  const Duration soon = boot_time() + hours{1};
  EXPECT_LT(watch.due(), soon);
  server_.answer_by("HTTP/1.1 503 No\r\n\r\n");
  ASSERT_TRUE(fails(watch));
  EXPECT_LT(watch.due(), soon);
  server_.answer_by("HTTP/1.1 200 OK\r\n\r\n");
  ASSERT_TRUE(goes_on(watch, [&] { return watch.due() > soon; }));
  EXPECT_FALSE(watch.is_well()) << "it was one success";
}

TEST_F(HealthWatchTest, ACommandIsWellByItsExitCode) {
  HealthWatch watch = begun(shell("test $MARK = there"));
  ASSERT_TRUE(gets_well(watch));
  HealthWatch other = begun(shell("exit 3"));
  ASSERT_TRUE(fails(other));
  EXPECT_THAT(other.failure(), IsGolden());
}

TEST_F(HealthWatchTest, ACommandThatCannotBeExecutedHasFailed) {
  HealthCheck check = shell("");
  check.command = {"/nowhere/check"};
  HealthWatch watch = begun(check);
  ASSERT_TRUE(fails(watch));
  EXPECT_THAT(watch.failure(), IsGolden());
}

TEST_F(HealthWatchTest, ACommandThatHangsIsKilledWithAllThatItStarted) {
  const test::TempFile pids("pids", "");
  HealthCheck check = shell("sleep 1000 & echo $! >> " + pids.path().string() + "; echo $$ >> " +
                            pids.path().string() + "; wait");
  check.timeout = milliseconds{50};
  HealthWatch watch = begun(check);
  ASSERT_TRUE(fails(watch));
  EXPECT_THAT(watch.failure(), IsGolden());
  watch.end();
  std::ifstream file(pids.path());
  for (pid_t pid = 0; file >> pid;) {
    EXPECT_TRUE(goes_on(watch, [pid] {
      std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
      std::string number, name, state;
      return !(stat >> number >> name >> state) || state == "Z";
    })) << pid;
  }
}

TEST_F(HealthWatchTest, OneCommandRunsAtATime) {
  const test::TempFile marks("marks", "");
  const std::string file = marks.path().string();
  // Two at a time would find the lock of each other.
  HealthCheck check = shell("mkdir " + file + ".lock || exit 9; sleep 0.02; rmdir " + file +
                            ".lock; echo run >> " + file);
  HealthWatch watch = begun(check);
  ASSERT_TRUE(goes_on(watch, [&] {
    std::ifstream runs(file);
    std::string lines(std::istreambuf_iterator<char>(runs), {});
    return lines.size() > 20;
  }));
  EXPECT_EQ(watch.failure(), "");
}

TEST_F(HealthWatchTest, AfterTheEndNothingIsAsked) {
  HealthWatch watch = begun(often(CheckKind::http));
  watch.end();
  EXPECT_EQ(watch.due(), Duration::max());
  std::vector<pollfd> polled;
  watch.add_to(polled);
  EXPECT_TRUE(polled.empty());
  watch.begin({{"http", server_.port()}}, {}, {});
  server_.answer_by("HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_TRUE(gets_well(watch)) << "the next run of the program begins anew";
}

}  // namespace
}  // namespace muster::process
