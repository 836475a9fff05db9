#include "tools/experiment/run_children.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "tests/support/temp_file.hpp"

namespace muster::experiment {
namespace {

using test::TempFile;

/// Runs `sh -c SCRIPT` for each script.
struct Children {
  TempFile place{"place", ""};
  std::vector<Child> all;
  std::map<std::size_t, ChildEnd> ends;
  std::size_t at_once = 2;
  std::function<bool()> stop_when;

  explicit Children(const std::vector<std::string>& scripts) {
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      all.push_back({{"-c", scripts[i]}, file("out", i), file("err", i)});
    }
  }
  std::filesystem::path file(const std::string& kind, std::size_t i) const {
    return place.folder() / (kind + std::to_string(i));
  }
  std::string text(const std::string& kind, std::size_t i) const {
    std::ifstream in(file(kind, i));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool run(const std::string& program = "/bin/sh") {
    ChildrenSetup setup;
    setup.program = program;
    setup.at_once = at_once;
    setup.pause = [this](Duration length) {
      std::this_thread::sleep_for(length);
      return !stop_when || !stop_when();
    };
    setup.elapsed = [] { return Duration{}; };
    setup.ended = [this](const ChildEnd& end) {
      ends[end.child] = end;
      return true;
    };
    return run_children(all, setup);
  }
};

TEST(RunChildren, gives_each_its_files_and_tells_how_it_ended) {
  Children children({"echo good", "echo bad >&2; exit 3", "kill -9 $$"});
  EXPECT_TRUE(children.run());
  EXPECT_EQ(children.ends.size(), 3u);
  EXPECT_EQ(children.ends[0].exit_code, 0);
  EXPECT_EQ(children.text("out", 0), "good\n");
  EXPECT_EQ(children.ends[1].exit_code, 3);
  EXPECT_EQ(children.text("err", 1), "bad\n");
  EXPECT_EQ(children.ends[2].exit_code, -1);
  EXPECT_EQ(children.ends[2].signal, SIGKILL);
}

TEST(RunChildren, runs_no_more_at_once_than_asked_for) {
  const TempFile counts("counts", "");
  const std::string count = counts.path().string();
  // Each adds a line while it runs and says how many there are.
  const std::string script = "touch " + count + ".$$; ls " + counts.folder().string() +
                             " | grep -c counts.; sleep 0.05; rm " + count + ".$$";
  Children children(std::vector<std::string>(8, script));
  EXPECT_TRUE(children.run());
  for (std::size_t i = 0; i < 8; ++i) EXPECT_LE(std::stoi(children.text("out", i)), 2) << i;
}

TEST(RunChildren, leaves_none_behind_when_it_is_stopped) {
  Children children({"echo $$; exec sleep 60", "echo $$; exec sleep 60", "echo never"});
  children.stop_when = [&] {
    return children.text("out", 0).ends_with('\n') && children.text("out", 1).ends_with('\n');
  };
  EXPECT_FALSE(children.run());
  for (std::size_t i = 0; i < 2; ++i) {
    const pid_t pid = std::stoi(children.text("out", i));
    EXPECT_EQ(kill(pid, 0), -1) << "child " << i << " is left";
  }
  EXPECT_EQ(children.text("out", 2), "");
}

TEST(RunChildren, leaves_none_behind_when_it_is_killed) {
  Children children({"echo $$; exec sleep 60"});
  const pid_t parent = fork();
  if (parent == 0) {
    children.run();
    _exit(0);
  }
  std::string said;
  for (int i = 0; i < 500 && !said.ends_with('\n'); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    said = children.text("out", 0);
  }
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  const pid_t child = std::stoi(said);
  const auto is_gone = [&] {
    std::ifstream stat("/proc/" + said.substr(0, said.size() - 1) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(stat), {}};
    // Whoever adopts orphans here may not bury them.
    return kill(child, 0) == -1 || text.find(") Z") != std::string::npos;
  };
  for (int i = 0; i < 500 && !is_gone(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  EXPECT_TRUE(is_gone());
}

TEST(RunChildren, says_when_the_program_is_none) {
  Children children({"true"});
  EXPECT_TRUE(children.run("/nowhere/sh"));
  EXPECT_EQ(children.ends[0].exit_code, 127);
}

}  // namespace
}  // namespace muster::experiment
