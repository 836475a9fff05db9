// Keeps the nodes of a local cluster running, as an init system does elsewhere.

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include "config/cluster_folder.hpp"
#include "serve/api/private_file.hpp"
#include "serve/local/cluster_place.hpp"
#include "serve/local/local_cluster.hpp"
#include "serve/local/settings_draft.hpp"
#include "workers/process/limits/task_limits.hpp"

namespace muster::local {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kFirstPause = std::chrono::milliseconds{200};
constexpr auto kLongestPause = std::chrono::milliseconds{5'000};
constexpr auto kSteady = std::chrono::seconds{10};  ///< a node that ran this long starts at once
/// Of a keeper, between `muster up` or its nodes and the next that is killed.
constexpr std::chrono::milliseconds kLongestKeeperPause{30'000};
/// When the last keeper began, in ms since the computer did, and its pause; gone after an orderly
/// end.
constexpr const char* kKeeperPace = "keeper.pace";
constexpr auto kEndPatience = std::chrono::seconds{10};

/// Not fmt::print(), which throws where the disk of the log is full: nodes end with their keeper.
template <class... Values>
void say(fmt::format_string<Values...> text, Values&&... values) {
  std::fputs(fmt::format(text, std::forward<Values>(values)...).c_str(), stderr);
}

/// One node and its process.
struct Child {
  std::string node;
  pid_t pid = -1;
  Clock::time_point started;
  Clock::time_point due;  ///< when it is to be started, while it does not run
  std::chrono::milliseconds pause = kFirstPause;
};

pid_t spawn_node(const std::filesystem::path& program, const std::string& file,
                 const std::string& node) {
  std::vector<std::string> words{program.string(), "node", "--config", file,
                                 "--name",         node,   "--kept",   std::to_string(getpid())};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int trouble = posix_spawn(&pid, program.c_str(), nullptr, &how, argv.data(), environ);
  posix_spawnattr_destroy(&how);
  if (trouble != 0) {
    say("{}: {}\n", program.string(), std::strerror(trouble));
    return -1;
  }
  return pid;
}

/// The lock with this process's number in it; -1 when another keeper has it.
int take_lock(const std::filesystem::path& file) {
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -1;
  // Somebody may just be looking whether it is held.
  for (int tries = 10; flock(fd, LOCK_EX | LOCK_NB) != 0; --tries) {
    if (tries == 0) return -1;
    usleep(20'000);
  }
  const std::string number = std::to_string(getpid()) + "\n";
  if (ftruncate(fd, 0) != 0) return -1;
  if (write(fd, number.data(), number.size()) != static_cast<ssize_t>(number.size())) return -1;
  return fd;
}

void reap(std::vector<Child>& children) {
  int status = 0;
  // One SIGCHLD may stand for several children: all that have ended are taken.
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    for (Child& child : children) {
      if (child.pid != pid) continue;
      const bool steady = Clock::now() - child.started > kSteady;
      child.pause = steady ? kFirstPause : std::min(child.pause * 2, kLongestPause);
      child.pid = -1;
      child.due = Clock::now() + child.pause;
      say("node {} ended ({}); it starts again in {} ms\n", child.node,
          WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                              : fmt::format("exit code {}", WEXITSTATUS(status)),
          child.pause.count());
    }
  }
}

bool any_runs(const std::vector<Child>& children) {
  return std::any_of(children.begin(), children.end(), [](const Child& c) { return c.pid > 0; });
}

void signal_all(const std::vector<Child>& children, int signal) {
  for (const Child& child : children) {
    if (child.pid > 0) kill(child.pid, signal);
  }
}

void kill_all(std::vector<Child>& children) {
  signal_all(children, SIGKILL);
  while (any_runs(children)) {
    usleep(5'000);
    reap(children);
  }
}

void end_all(std::vector<Child>& children) {
  // A node that is asked writes out its journals; one that hangs has kEndPatience.
  signal_all(children, SIGTERM);
  const auto until = Clock::now() + kEndPatience;
  while (any_runs(children) && Clock::now() < until) {
    usleep(20'000);
    reap(children);
  }
  kill_all(children);
}

/// A cluster's folder as it was when its keeper began.
class HeldFolder {
 public:
  explicit HeldFolder(std::filesystem::path dir)
      : dir_(std::move(dir)), open_(open(dir_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
  HeldFolder(const HeldFolder&) = delete;
  HeldFolder& operator=(const HeldFolder&) = delete;
  ~HeldFolder() {
    if (open_ >= 0) close(open_);
  }
  /// Another folder is in its place. One that was only moved away, or cannot be looked at for a
  /// while, as on a network's disk, is not: nothing of another one comes to harm.
  bool is_replaced() const {
    struct stat own {};
    struct stat there {};
    if (open_ < 0 || fstat(open_, &own) != 0 || stat(dir_.c_str(), &there) != 0) return false;
    return own.st_dev != there.st_dev || own.st_ino != there.st_ino;
  }

 private:
  std::filesystem::path dir_;
  int open_;
};

std::chrono::milliseconds since_start_of_computer() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch());
}

/// The pause before the nodes of a keeper that follows one which was killed soon after its start:
/// each time twice as long. Written down for the next one.
std::chrono::milliseconds pause_of_keeper(const std::filesystem::path& dir) {
  std::int64_t began = 0;
  std::int64_t paused = 0;
  std::ifstream(dir / kKeeperPace) >> began >> paused;
  const auto now = since_start_of_computer();
  const auto last = std::clamp(std::chrono::milliseconds{paused}, {}, kLongestKeeperPause);
  const auto ran = now - std::chrono::milliseconds{began};
  const bool follows = began > 0 && ran.count() >= 0 && ran < last + kSteady;
  const auto pause = follows ? std::clamp(last * 2, kFirstPause, kLongestKeeperPause)
                             : std::chrono::milliseconds{0};
  // One that cannot be written is no reason against a start.
  write_file(dir / kKeeperPace, fmt::format("{} {}\n", now.count(), pause.count()), 0600);
  return pause;
}

/// Why no keeper may be here; empty: one may.
std::string obstacle(const std::filesystem::path& dir, const TwinLock& twin) {
  if (const auto original = original_of(dir)) return "this folder is " + copy_text(*original);
  if (!twin.holder().empty()) return "a copy of this cluster runs already: " + twin.holder();
  const api::FileLock down(dir / "down", std::chrono::milliseconds{0});
  return down.fault().empty() ? std::string{} : "a `muster down` is at work here";
}

/// Blocked from the start on, they are taken by sigtimedwait() alone: no look misses one, and a
/// keeper that is ended while it begins does not leave its mark.
sigset_t block_ends() {
  sigset_t ends;
  sigemptyset(&ends);
  for (int signal : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&ends, signal);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  return ends;
}

/// Starts the nodes that are due.
void start_due(std::vector<Child>& children, const ClusterConfig& config,
               const std::filesystem::path& program) {
  for (Child& child : children) {
    if (child.pid > 0 || child.due > Clock::now()) continue;
    child.started = Clock::now();
    child.pid = spawn_node(program, config.file.string(), child.node);
    child.due = Clock::now() + child.pause;
  }
}

/// Keeps the nodes, which are due, running until one of the signals tells the process to end, and
/// they have ended. False: another folder is in the place of theirs. Then the nodes are killed at
/// once, for they go by the paths of their files: they would write to, and delete, those of another
/// folder there.
bool keep(std::vector<Child>& children, const std::function<void()>& start, const sigset_t& ends,
          const HeldFolder& folder) {
  while (true) {
    if (folder.is_replaced()) return kill_all(children), false;
    start();
    // Bounds the wait: no signal says that a child's pause is over.
    const timespec nap{0, 100'000'000};
    const int signal = sigtimedwait(&ends, nullptr, &nap);
    reap(children);
    if (signal == SIGTERM || signal == SIGINT) break;
  }
  // An orderly end writes: not into another folder.
  if (folder.is_replaced()) return kill_all(children), false;
  end_all(children);
  return true;
}

}  // namespace

int keep_nodes(const std::filesystem::path& dir, const std::filesystem::path& program) {
  const sigset_t ends = block_ends();
  if (!is_own_folder(dir)) {
    say("{}: is another user's folder\n", dir.string());
    return 1;
  }
  const HeldFolder folder(dir);
  const int lock = take_lock(dir / kKeeperLock);
  if (lock < 0) {
    say("{}: another keeper runs here\n", dir.string());
    return 1;
  }
  // Before the lock goes: an end with the mark would be mended.
  const auto end = [&](const std::string& why, int code) {
    if (!why.empty()) say("{}\n", why);
    mark_keeper(dir, false);
    close(lock);
    return code;
  };
  if (!is_keeper_marked(dir)) return end(dir.string() + ": it was taken down meanwhile", 1);
  const auto place = place_of(dir);
  // Goes before the lock does, for whose end others wait.
  std::optional<TwinLock> twin(std::in_place, place ? place->id : dir.string(), dir);
  if (const std::string why = obstacle(dir, *twin); !why.empty()) {
    return end(dir.string() + ": " + why, 1);
  }
  const auto config = load_cluster_config(LocalCluster(dir).config_file(), {});
  if (!config) return end(config.error().message, 1);
  // Those of the shell that it was started from are not meant for a cluster.
  process::raise_own_limits();
  const auto pause = pause_of_keeper(dir);
  if (pause.count() > 0) {
    say("a keeper was killed soon after its start; the nodes start in {} ms\n", pause.count());
  }
  std::vector<Child> children;
  for (const NodeConfig& node : config->nodes) {
    children.push_back({node.name, -1, {}, Clock::now() + pause});
  }
  const auto start = [&] { start_due(children, config.value(), program); };
  if (!keep(children, start, ends, folder)) {
    say("{}: another folder was put there while the cluster ran: its nodes are killed\n",
        dir.string());
    return close(lock), 1;
  }
  std::error_code gone;
  std::filesystem::remove(dir / kKeeperPace, gone);
  twin.reset();
  return end({}, 0);
}

}  // namespace muster::local
