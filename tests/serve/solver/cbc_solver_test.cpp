#include "serve/solver/cbc_solver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "serve/solver/child_end.hpp"
#include "serve/solver/mps_text.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Seven of one, nine of another and eight of a third, in pairs for 3 and in threes for 4.1.
IntegerProgram seats() {
  IntegerProgram program;
  program.rows = {{.least = 7}, {.least = 9}, {.least = 8}};
  program.columns = {{3, 24, {{0, 1}, {1, 1}}},
                     {3, 24, {{1, 1}, {2, 1}}},
                     {3, 24, {{0, 1}, {2, 1}}},
                     {4.1, 24, {{0, 1}, {1, 1}, {2, 1}}}};
  return program;
}

std::string cbc() {
  return find_program("cbc");
}

/// A program of its own in a folder of its own, which is called cbc.
class FakeCbc {
 public:
  explicit FakeCbc(const std::string& script) {
    std::ofstream(path()) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  std::string path() const { return (folder_.folder() / "cbc").string(); }

 private:
  test::TempFile folder_{"beside", ""};
};

TEST(CbcSolver, finds_the_cheapest_whole_solution_by_nodes_and_by_seconds) {
  if (cbc().empty()) GTEST_SKIP() << "coinor-cbc is not installed";
  for (const SolverStop stop : {SolverStop::nodes, SolverStop::seconds}) {
    const auto values = CbcSolver(cbc(), stop).solve(seats(), {1000, 5, 0});
    ASSERT_TRUE(values) << values.error().message;
    EXPECT_TRUE(solves(seats(), values.value()));
    EXPECT_NEAR(cost_of(seats(), values.value()), 33.6, 1e-9);
  }
}

TEST(CbcSolver, takes_a_known_solution_and_rows_with_two_bounds) {
  if (cbc().empty()) GTEST_SKIP() << "coinor-cbc is not installed";
  IntegerProgram program = seats();
  program.start = {0, 2, 0, 7};
  program.rows[0].most = 7;
  program.rows.push_back({.most = 5});
  program.columns[3].entries.push_back({3, 1});  // threes: at most five
  program.start = {2, 2, 1, 5};
  ASSERT_FALSE(solves(program, program.start));
  program.start = {1, 3, 1, 5};
  ASSERT_TRUE(solves(program, program.start));
  const auto values = CbcSolver(cbc(), SolverStop::nodes).solve(program, {0, 0, 0});
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_TRUE(solves(program, values.value()));
  EXPECT_LE(cost_of(program, values.value()), cost_of(program, program.start) + 1e-9);
}

TEST(CbcSolver, says_so_where_there_is_no_such_program) {
  const auto values = CbcSolver("/nowhere/cbc", SolverStop::nodes).solve(seats(), {});
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code, SolverError::failed);
  EXPECT_THAT(values.error().message, HasSubstr("/nowhere/cbc"));
}

TEST(PolicyServices, name_the_package_where_the_solver_is_not_installed) {
  const char* before = std::getenv("PATH");
  const std::string path = before != nullptr ? before : "";
  const test::TempFile beside("beside", "");
  setenv("PATH", beside.folder().c_str(), 1);
  const PolicyServices none = policy_services(SolverStop::nodes);
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(none.solver, nullptr);
  EXPECT_THAT(none.no_solver, HasSubstr("coinor-cbc"));
}

TEST(CbcSolver, takes_nonsense_for_what_it_is) {
  for (const char* script :
       {"exit 0", "for last; do :; done; echo 'Infeasible - objective value 1' > $last",
        "for last; do :; done; printf 'Optimal - objective value 1\\n0 c0 0.5 1\\n' > $last",
        "for last; do :; done; head -c 100000 /dev/urandom > $last"}) {
    const FakeCbc fake(script);
    const auto values = CbcSolver(fake.path(), SolverStop::nodes).solve(seats(), {});
    ASSERT_FALSE(values) << script;
    EXPECT_EQ(values.error().code, SolverError::nonsense) << script;
  }
}

TEST(CbcSolver, takes_a_child_that_was_killed_for_a_failure) {
  const FakeCbc fake("kill -9 $$");
  const auto values = CbcSolver(fake.path(), SolverStop::nodes).solve(seats(), {});
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code, SolverError::failed);
}

TEST(CbcSolver, kills_a_child_that_outlives_its_time) {
  const FakeCbc fake("exec sleep 600");
  const auto values = CbcSolver(fake.path(), SolverStop::seconds).solve(seats(), {0, 0.1, 0});
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code, SolverError::failed);
}

TEST(CbcSolver, kills_a_child_that_hangs_in_a_replay_and_asks_it_no_more) {
  const test::TempFile asked("asked", "");
  const FakeCbc fake("echo once >> " + asked.path().string() + "; exec sleep 600");
  const CbcSolver solver(fake.path(), SolverStop::nodes, 0.5);
  for (const char* why : {"had not ended after 0.5 s", "is not asked again"}) {
    const auto values = solver.solve(seats(), {50, 0, 0});
    ASSERT_FALSE(values);
    EXPECT_EQ(values.error().code, SolverError::failed);
    EXPECT_THAT(values.error().message, HasSubstr(why));
  }
  std::ifstream lines(asked.path());
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(lines), {}}), "once\n");
}

TEST(CbcSolver, takes_a_child_of_whose_end_nothing_is_known_for_a_failure) {
  const FakeCbc fake(
      "for last; do :; done; printf 'Optimal - objective value 1\\n0 c3 9 1\\n' > $last");
  const auto before = signal(SIGCHLD, SIG_IGN);  // the system takes its status away
  const auto values = CbcSolver(fake.path(), SolverStop::nodes).solve(seats(), {});
  signal(SIGCHLD, before);
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code, SolverError::failed);
  EXPECT_TRUE(CbcSolver(fake.path(), SolverStop::nodes).solve(seats(), {}));
}

TEST(CbcSolver, lets_no_answer_fill_the_memory) {
  // The answer is longer than any may be; exec: the signal that ends its writer is the child's own.
  const FakeCbc fake("for last; do :; done; exec dd if=/dev/zero of=$last bs=1M count=70");
  const auto values = CbcSolver(fake.path(), SolverStop::nodes).solve(seats(), {});
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code, SolverError::failed);
}

TEST(CbcSolver, takes_a_text_that_no_program_runs_for_a_failure) {
  const FakeCbc fake("exit 0");
  std::ofstream(fake.path()) << "no program at all\n";
  const auto values = CbcSolver(fake.path(), SolverStop::nodes).solve(seats(), {});
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code, SolverError::failed);
}

pid_t child_that(const char* script) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", script, nullptr);
    _exit(127);
  }
  return child;
}

TEST(ChildEnd, is_awaited_with_and_without_a_descriptor_of_the_system) {
  for (const bool watches : {true, false}) {
    for (const auto& [script, end] :
         {std::pair{"exit 0", ChildEnd::well}, std::pair{"exit 3", ChildEnd::badly},
          std::pair{"kill -9 $$", ChildEnd::badly}}) {
      const pid_t child = child_that(script);
      const int watched = watches ? watch_child(child) : -1;
      EXPECT_EQ(await_end(child, watched, 600), end) << script << watches;
      if (watched >= 0) close(watched);
    }
    const pid_t child = child_that("exec sleep 600");
    const int watched = watches ? watch_child(child) : -1;
    EXPECT_EQ(await_end(child, watched, 0.05), ChildEnd::outlived) << watches;
    EXPECT_EQ(kill(child, 0), -1) << "it is gone";
    if (watched >= 0) close(watched);
  }
}

TEST(CbcSolver, has_its_child_die_with_it_and_leaves_no_file) {
  const test::TempFile beside("beside", "");
  const std::filesystem::path folder = beside.folder() / "of-child";
  std::filesystem::create_directory(folder);
  const std::filesystem::path said = folder / "pid";
  const FakeCbc fake("cd " + folder.string() + "; echo $$ > " + said.string() + ".new; mv " +
                     said.string() + ".new " + said.string() + "; exec sleep 600");
  const pid_t parent = fork();
  if (parent == 0) {
    static_cast<void>(CbcSolver(fake.path(), SolverStop::nodes).solve(seats(), {}));
    _exit(0);
  }
  while (!std::filesystem::exists(said)) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  pid_t child = 0;
  std::ifstream(said) >> child;
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  // It is nobody's child here, so that it is looked for until it is gone.
  while (kill(child, 0) == 0) {
    std::ifstream state("/proc/" + std::to_string(child) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(state), {}};
    if (text.find(") Z") != std::string::npos) break;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path().filename());
  }
  EXPECT_THAT(files, ElementsAre("pid"));
}

TEST(PolicyFiles, are_read_whole_and_no_larger_than_their_bound) {
  const ::muster::test::TempFile file("past", "one\ntwo");
  EXPECT_EQ(read_policy_file(file.path()).value(), "one\ntwo");
  std::filesystem::resize_file(file.path(), kLargestPolicyFile_bytes + 1);
  for (const std::filesystem::path& bad : {file.path(), file.folder(), file.folder() / "none"}) {
    EXPECT_EQ(read_policy_file(bad).error().code, PolicyError::bad_file);
  }
}

TEST(ValuesOf, reads_what_is_whole_and_nothing_else) {
  EXPECT_THAT(
      values_of("Optimal - objective value 3\n  0 c0  2  3\n  2 c2  1.0000001 0\n", 3).value(),
      ElementsAre(2, 0, 1));
  EXPECT_TRUE(values_of("Stopped on nodes - objective value 3\n", 1));
  for (const char* bad :
       {"", "Optimal", "Infeasible - objective value 3\n", "Optimal -\n0 c9 1 1\n",
        "Optimal -\n0 c0 1.5 1\n", "Optimal -\n0 c0 -1 1\n", "Optimal -\n** 0 c0 1 1\n",
        "Optimal -\n0 c0 nan 1\n", "Optimal -\n0 c0 1e300 1\n", "Optimal -\nc0 1\n"}) {
    EXPECT_FALSE(values_of(bad, 3)) << bad;
  }
}

}  // namespace
}  // namespace muster
