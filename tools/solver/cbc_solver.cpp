#include "tools/solver/cbc_solver.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/solver/mps_text.hpp"

namespace muster {
namespace {

/// A child that has not stopped by itself is killed after its seconds, times this and more.
constexpr double kPatience = 1.5;
constexpr double kPatience_s = 1;
/// Of what the solver writes, as much is read.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

Failure<SolverError> failed(const std::string& what) {
  return {SolverError::failed, fmt::format("{}: {}", what, std::strerror(errno))};
}

/// A file that has no name, and is gone with the last process that has it.
class NamelessFile {
 public:
  explicit NamelessFile(const char* label) : fd_(memfd_create(label, MFD_CLOEXEC)) {}
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;
  ~NamelessFile() {
    if (fd_ >= 0) close(fd_);
  }

  int fd() const { return fd_; }
  /// How a child that has inherited it opens it.
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_); }

  bool write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(fd_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }
  std::string read() const {
    std::string text;
    std::array<char, 65536> piece{};
    while (text.size() < kMostBytes) {
      const ssize_t got = pread(fd_, piece.data(), piece.size(), static_cast<off_t>(text.size()));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  int fd_;
};

/// Becomes the program; only calls that are allowed between fork() and exec().
[[noreturn]] void become(char* const* words, pid_t parent, const std::array<int, 3>& kept) {
  // A parent that ended before this call is noticed right after it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, fd);
  for (const int fd : kept) fcntl(fd, F_SETFD, 0);
  execv(words[0], words);
  _exit(127);
}

pid_t start(std::vector<std::string> words, const std::array<int, 3>& kept) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) become(argv.data(), parent, kept);
  return child;
}

/// Waits until the child has ended; kills it when that takes longer, 0: waits for ever. Whether it
/// ended by itself and well.
bool await(pid_t child, double seconds) {
  const int watched = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  if (watched >= 0) {
    pollfd ended{watched, POLLIN, 0};
    const int most_ms = seconds > 0 ? static_cast<int>(std::ceil(seconds * 1000)) : -1;
    int ready = 0;
    do {
      ready = poll(&ended, 1, most_ms);
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) kill(child, SIGKILL);
    close(watched);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

Expected<std::vector<std::uint32_t>, SolverError> CbcSolver::solve(
    const IntegerProgram& program, const SolveLimits& limits) const {
  const NamelessFile question("muster-program");
  const NamelessFile start_file("muster-start");
  const NamelessFile answer("muster-solution");
  if (question.fd() < 0 || start_file.fd() < 0 || answer.fd() < 0) return failed("memfd_create");
  if (!question.write(mps_text(program))) return failed("the program cannot be written");
  std::vector<std::string> words{program_, question.path(), "-threads",
                                 "0",      "-ratioGap",     fmt::format("{}", limits.gap_share)};
  const bool timed = stop_ == SolverStop::seconds;
  if (timed) {
    words.insert(words.end(), {"-timeMode", "elapsed", "-sec", fmt::format("{}", limits.seconds)});
  } else {
    words.insert(words.end(), {"-maxNodes", fmt::format("{}", limits.nodes)});
  }
  if (!program.start.empty()) {
    if (!start_file.write(start_text(program))) return failed("the start cannot be written");
    words.insert(words.end(), {"-mipstart", start_file.path()});
  }
  words.insert(words.end(), {"-solve", "-solution", answer.path()});
  const pid_t child = start(std::move(words), {question.fd(), start_file.fd(), answer.fd()});
  if (child < 0) return failed("fork");
  if (!await(child, timed ? limits.seconds * kPatience + kPatience_s : 0)) {
    return Failure<SolverError>{SolverError::failed, program_ + " did not end well"};
  }
  auto values = values_of(answer.read(), program.columns.size());
  if (values) return std::move(*values);
  return Failure<SolverError>{SolverError::nonsense, program_ + " wrote no whole solution"};
}

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const std::size_t end = folders.find(':');
    const std::string_view folder = folders.substr(0, end);
    // An empty entry is the present folder, which is not asked for programs.
    const std::string candidate = fmt::format("{}/{}", folder, name);
    if (!folder.empty() && access(candidate.c_str(), X_OK) == 0) return candidate;
    if (end == std::string_view::npos) return {};
    folders.remove_prefix(end + 1);
  }
}

PolicyServices policy_services(SolverStop stop) {
  const std::string program = find_program("cbc");
  if (!program.empty()) return {std::make_shared<CbcSolver>(program, stop), {}};
  return {nullptr,
          "needs the solver CBC, which is not in PATH: install Debian's package coinor-cbc"};
}

}  // namespace muster
