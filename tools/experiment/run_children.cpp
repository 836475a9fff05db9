#include "tools/experiment/run_children.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>

// Children are processes of their own: one that crashes or is killed takes no other with it, and
// the parent needs no thread, since it only looks after them now and then.

namespace muster::experiment {
namespace {

// Short beside a run, which takes a tenth of a second at least.
constexpr Duration kBetweenLooks = std::chrono::milliseconds{10};
constexpr int kNotBegun = 127;

struct Running {
  std::size_t child = 0;
  pid_t pid = -1;
  Duration since{};
};

/// Becomes the program. After a fork only calls that are safe there: everything is made before.
[[noreturn]] void become(const char* program, char* const* arguments, const int (&files)[3],
                         pid_t parent) {
  // A group of its own: Ctrl-C is for the parent, which decides what becomes of the children.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before that was said.
  if (getppid() != parent) _exit(kNotBegun);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int i = 0; i < 3; ++i) {
    if (dup2(files[i], i) < 0) _exit(kNotBegun);
  }
  execv(program, arguments);
  _exit(kNotBegun);
}

pid_t start(const Child& child, const std::string& program) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), child.arguments.begin(), child.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  const int files[3] = {open("/dev/null", O_RDONLY | O_CLOEXEC),
                        open(child.out.c_str(), kNew, 0644), open(child.err.c_str(), kNew, 0644)};
  const bool opened = std::all_of(std::begin(files), std::end(files), [](int f) { return f >= 0; });
  const pid_t parent = getpid();
  const pid_t pid = opened ? fork() : -1;
  if (pid == 0) become(program.c_str(), arguments.data(), files, parent);
  for (const int file : files) {
    if (file >= 0) close(file);
  }
  return pid;
}

/// Looks after the children that run.
class Nursery {
 public:
  explicit Nursery(const ChildrenSetup& setup) : setup_(setup) {}
  Nursery(const Nursery&) = delete;
  Nursery& operator=(const Nursery&) = delete;
  /// They are killed without a chance to end: their output counts only when it is whole.
  ~Nursery() {
    for (const Running& running : running_) kill(running.pid, SIGKILL);
    for (const Running& running : running_) {
      while (waitpid(running.pid, nullptr, 0) < 0 && errno == EINTR) continue;
    }
  }

  bool full() const { return running_.size() >= std::max<std::size_t>(setup_.at_once, 1); }
  bool empty() const { return running_.empty(); }

  bool add(std::size_t index, const Child& child) {
    const pid_t pid = start(child, setup_.program.string());
    if (pid < 0) return setup_.ended({.child = index, .exit_code = -1});
    running_.push_back({index, pid, setup_.elapsed()});
    return true;
  }

  /// Tells of those that have ended.
  bool look() {
    for (std::size_t i = 0; i < running_.size();) {
      int status = 0;
      if (waitpid(running_[i].pid, &status, WNOHANG) != running_[i].pid) {
        ++i;
        continue;
      }
      ChildEnd end{.child = running_[i].child, .took = setup_.elapsed() - running_[i].since};
      end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      if (!setup_.ended(end)) return false;
    }
    return true;
  }

 private:
  const ChildrenSetup& setup_;
  std::vector<Running> running_;
};

}  // namespace

bool run_children(const std::vector<Child>& children, const ChildrenSetup& setup) {
  Nursery nursery(setup);
  std::size_t next = 0;
  while (next < children.size() || !nursery.empty()) {
    while (next < children.size() && !nursery.full()) {
      if (!nursery.add(next, children[next])) return false;
      ++next;
    }
    if (!setup.pause(kBetweenLooks) || !nursery.look()) return false;
  }
  return true;
}

}  // namespace muster::experiment
