// Signals before a time limit, and the failures after which a task is tried again.

#include "config/stop_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>

#include "config/job_request.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::IsGoldenAt;
using testing::ElementsAre;
using testing::IsEmpty;

Expected<JobRequest, ConfigError> read(const std::string& more) {
  return job_request_from_toml("command = [\"true\"]\n" + more, "job.toml");
}

std::string error_of(const std::string& more) {
  return test::message_of(read(more), ConfigError::invalid);
}

/// The signal that a text means, and when it comes; 0: it is none.
int signal_of(const std::string& text) {
  const auto request = read("time_limit_s = \"3650d\"\nsignal = \"" + text + "\"\n");
  return request ? make_job(request.value()).program.warn_signal : 0;
}
Duration time_of(const std::string& text) {
  return make_job(read("time_limit_s = \"3650d\"\nsignal = \"" + text + "\"\n").value())
      .program.warn_before;
}

TEST(WarnSignal, HasItsNameWithAndWithoutSigOrItsNumber) {
  for (const auto& [name, number] : std::map<std::string, int>{
           {"HUP", SIGHUP},   {"INT", SIGINT},     {"QUIT", SIGQUIT}, {"ABRT", SIGABRT},
           {"USR1", SIGUSR1}, {"USR2", SIGUSR2},   {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},
           {"TERM", SIGTERM}, {"CHLD", SIGCHLD},   {"CONT", SIGCONT}, {"TSTP", SIGTSTP},
           {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},   {"URG", SIGURG},   {"XCPU", SIGXCPU},
           {"XFSZ", SIGXFSZ}, {"WINCH", SIGWINCH}, {"IO", SIGIO},     {"PWR", SIGPWR}}) {
    EXPECT_EQ(signal_of(name), number);
    EXPECT_EQ(signal_of("SIG" + name), number);
    EXPECT_EQ(signal_of(std::to_string(number)), number);
  }
  EXPECT_EQ(signal_of("1"), 1);
  EXPECT_EQ(signal_of("31"), 31);
}

TEST(WarnSignal, IsNoneThatNoProgramCanTakeOrThatIsNot) {
  for (const char* none : {"KILL", "STOP", "SIGKILL", "9", "19", "0", "32", "64", "-1", "1.5",
                           "hup", "SIG", "", "USR1 ", "b:USR1"}) {
    EXPECT_EQ(signal_of(none), 0) << none;
  }
}

TEST(WarnSignal, ComesAMinuteBeforeTheLimitUnlessItSaysWhen) {
  EXPECT_EQ(time_of("USR1"), 60s);
  EXPECT_EQ(time_of("USR1@1"), 1s);
  EXPECT_EQ(time_of("USR1@0.001"), 1ms);
  EXPECT_EQ(time_of("USR1@2h"), 2h);
  for (const char* none : {"USR1@0", "USR1@-1", "USR1@3651d", "USR1@", "USR1@soon", "USR1@1@2"}) {
    EXPECT_EQ(signal_of(none), 0) << none;
  }
}

TEST(WarnSignal, ComesAfterTheStart) {
  EXPECT_EQ(error_of("time_limit_s = 61\nsignal = \"USR1\"\n"), "no error");
  EXPECT_THAT(error_of("time_limit_s = 60\nsignal = \"USR1\"\n"),
              IsGoldenAt("job.toml:3:10: signal"));
  EXPECT_THAT(error_of("signal = \"USR1\"\n"), IsGoldenAt("job.toml:2:10: signal"));
}

TEST(WarnSignal, IsAskedForAgainByItsNameOrWhereItHasNoneByItsNumber) {
  const auto again = [](const std::string& signal) {
    return request_of(make_job(read("time_limit_s = 600\nsignal = \"" + signal + "\"\n").value()))
        .signal;
  };
  EXPECT_EQ(again("SIGUSR1"), "USR1@60");
  EXPECT_EQ(again("10@90"), "USR1@90");
  EXPECT_EQ(again("B:4@1.5"), "B:4@1.5");
  EXPECT_EQ(request_of(make_job(read("").value())).signal, "");
}

TEST(WarnSignal, IsCheckedInARequestThatWasNotRead) {
  JobRequest request;
  request.command = {"true"};
  request.time_limit_s = 600;
  request.signal = "USR1@90";
  EXPECT_THAT(faults(request), IsEmpty());
  request.signal = "KILL@90";
  EXPECT_THAT(faults(request), ElementsAre(IsGoldenAt("signal")));
  request.signal = "USR1@600";
  EXPECT_THAT(faults(request), ElementsAre(IsGoldenAt("signal")));
}

std::vector<std::string> ends_of(const std::string& retry_on) {
  return read("retries = 1\nretry_on = " + retry_on + "\n").value().retry_on;
}

TEST(RetryOn, IsEachEndOnceInOneOrder) {
  EXPECT_THAT(ends_of("[75, 3, \"signal\", 75]"), ElementsAre("3", "75", "signal"));
  EXPECT_THAT(ends_of("\"signal,75,3\""), ElementsAre("3", "75", "signal"));
  EXPECT_THAT(ends_of("\" 75 , signal \""), ElementsAre("75", "signal"));
  EXPECT_THAT(ends_of("[\"1\", \"255\", \"007\"]"), ElementsAre("1", "255", "7"));
  EXPECT_THAT(ends_of("[]"), IsEmpty());
}

TEST(RetryOn, IsAnExitCodeOfAFailureOrTheWord) {
  for (const char* none :
       {"0", "256", "-1", "\"0\"", "\"256\"", "1.5", "true", "\"Signal\"", "\"7 5\"", "[[75]]"}) {
    EXPECT_THAT(error_of(std::string("retries = 1\nretry_on = [") + none + "]\n"),
                IsGoldenAt("job.toml:3:12: retry_on"))
        << none;
  }
  for (const char* none : {"\",\"", "\"75,\"", "\",75\"", "\"75;76\"", "{ a = 75 }", "75"}) {
    EXPECT_THAT(error_of(std::string("retries = 1\nretry_on = ") + none + "\n"),
                IsGoldenAt("job.toml:3:12: retry_on"))
        << none;
  }
}

TEST(RetryOn, NeedsRetriesToForgive) {
  EXPECT_EQ(error_of("retries = 1\nretry_on = [75]\n"), "no error");
  EXPECT_THAT(error_of("retries = 0\nretry_on = [75]\n"), IsGoldenAt("job.toml:3:12: retry_on"));
  EXPECT_THAT(error_of("retry_on = [75]\n"), IsGoldenAt("job.toml:2:12: retry_on"));
}

TEST(RetryOn, IsCheckedInARequestThatWasNotRead) {
  JobRequest request;
  request.command = {"true"};
  request.retries = 2;
  request.retry_on = {"75", "signal"};
  EXPECT_THAT(faults(request), IsEmpty());
  for (const char* other : {"075", " 75", "exit", "0", ""}) {
    request.retry_on = {other};
    EXPECT_THAT(faults(request), ElementsAre(IsGoldenAt("retry_on"))) << other;
  }
}

TEST(DoneOnStop, GoesIntoTheJobAndBackIntoTheRequest) {
  EXPECT_FALSE(make_job(read("").value()).done_on_stop);
  const Job job = make_job(read("done_on_stop = true\nretries = 1\nretry_on = [75]\n").value());
  EXPECT_TRUE(job.done_on_stop);
  EXPECT_THAT(job.retry_on, ElementsAre("75"));
  EXPECT_TRUE(request_of(job).done_on_stop);
  EXPECT_THAT(request_of(job).retry_on, ElementsAre("75"));
}

}  // namespace
}  // namespace muster
