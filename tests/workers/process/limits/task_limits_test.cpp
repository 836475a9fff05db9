#include "workers/process/limits/task_limits.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/support/golden.hpp"

// Limits that a process has lowered it cannot always raise again, so each test has one of its own.

namespace muster::process {
namespace {

using test::IsGolden;

/// The text that the work gives in a process of its own that is not root and has these limits.
template <class Work>
std::string said_under(std::vector<std::pair<__rlimit_resource_t, rlimit>> limits, Work work) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    for (const auto& [kind, limit] : limits) {
      if (setrlimit(kind, &limit) != 0) _exit(2);
    }
    if (geteuid() == 0 && setresuid(65'534, 65'534, 65'534) != 0) _exit(3);
    const std::string text = work();
    _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 4);
  }
  close(ends[1]);
  std::string text(1024, '\0');
  const ssize_t got = read(ends[0], text.data(), text.size());
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

std::string shown(__rlimit_resource_t kind) {
  rlimit limit{};
  getrlimit(kind, &limit);
  const auto number = [](rlim_t value) {
    return value == RLIM_INFINITY ? std::string("any") : std::to_string(value);
  };
  return number(limit.rlim_cur) + "/" + number(limit.rlim_max) + " ";
}

TEST(TaskLimits, GoAsFarAsAHardLimitThatCannotBeRaised) {
  const auto text =
      said_under({{RLIMIT_NOFILE, {100, 300}},
                  {RLIMIT_FSIZE, {1000, 2000}},
                  {RLIMIT_STACK, {4096 << 10, 6000 << 10}}},
                 [] {
                   set_task_limits();
                   return shown(RLIMIT_NOFILE) + shown(RLIMIT_FSIZE) + shown(RLIMIT_STACK);
                 });
  EXPECT_EQ(text, "300/300 2000/2000 6144000/6144000 ");
}

TEST(TaskLimits, AreLoweredWhereTheProcessHasMore) {
  const auto text = said_under({{RLIMIT_CORE, {1000, 2000}}}, [] {
    set_task_limits();
    return shown(RLIMIT_CORE);
  });
  EXPECT_EQ(text, "0/0 ");
}

TEST(TaskLimits, ThatAreTooLowAreNamedWithTheirValue) {
  EXPECT_EQ(said_under({{RLIMIT_NOFILE, {100, 1024}}}, low_limits), "");
  EXPECT_EQ(said_under({{RLIMIT_NOFILE, {100, 1023}}}, low_limits), "open files 1023");
  EXPECT_THAT(said_under({{RLIMIT_NOFILE, {100, 300}},
                          {RLIMIT_CPU, {90, 100}},
                          {RLIMIT_FSIZE, {1000, 2000}},
                          {RLIMIT_DATA, {rlim_t{1} << 39, rlim_t{1} << 40}},
                          {RLIMIT_AS, {rlim_t{1} << 45, rlim_t{1} << 46}}},
                         low_limits),
              IsGolden());
}

TEST(OwnLimits, AreRaisedAsFarAsTheHardOnesAllowAndNeverLowered) {
  const auto text =
      said_under({{RLIMIT_NOFILE, {100, 300}},
                  {RLIMIT_FSIZE, {1000, RLIM_INFINITY}},
                  {RLIMIT_STACK, {16 << 20, RLIM_INFINITY}}},
                 [] {
                   raise_own_limits();
                   return shown(RLIMIT_NOFILE) + shown(RLIMIT_FSIZE) + shown(RLIMIT_STACK);
                 });
  EXPECT_EQ(text, "300/300 any/any 16777216/any ");
}

TEST(OwnLimits, LeaveCoreFilesToWhoStartedTheProcess) {
  const auto text = said_under({{RLIMIT_CORE, {0, 2000}}}, [] {
    raise_own_limits();
    return shown(RLIMIT_CORE);
  });
  EXPECT_EQ(text, "0/2000 ");
}

}  // namespace
}  // namespace muster::process
