#include "serve/solver/cbc_solver.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "config/text_file.hpp"
#include "serve/solver/child_end.hpp"
#include "serve/solver/mps_text.hpp"

namespace muster {
namespace {

/// A child that has not stopped by itself is killed after its seconds, times this and more.
constexpr double kPatience = 1.5;
constexpr double kPatience_s = 1;
/// No file that the solver writes becomes longer: it is killed by the system then.
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
  const rlimit bytes{kMostBytes, kMostBytes};
  if (setrlimit(RLIMIT_FSIZE, &bytes) != 0) _exit(127);
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

/// Waits for the child until its seconds are over; kills it then.
ChildEnd await(pid_t child, double seconds) {
  const int watched = watch_child(child);
  const ChildEnd end = await_end(child, watched, seconds);
  if (watched >= 0) close(watched);
  return end;
}

}  // namespace

Expected<std::vector<std::uint32_t>, SolverError> CbcSolver::solve(
    const IntegerProgram& program, const SolveLimits& limits) const {
  if (given_up_) {
    return Failure<SolverError>{SolverError::failed,
                                program_ + " has outlived its time before, and is not asked again"};
  }
  const NamelessFile question("muster-program");
  const NamelessFile start_file("muster-start");
  const NamelessFile answer("muster-solution");
  if (question.fd() < 0 || start_file.fd() < 0 || answer.fd() < 0) return failed("memfd_create");
  if (!question.write(mps_text(program))) return failed("the solver's input cannot be written");
  std::vector<std::string> words{program_, question.path(), "-threads",
                                 "0",      "-ratioGap",     fmt::format("{}", limits.gap_share)};
  const bool timed = stop_ == SolverStop::seconds;
  if (timed) {
    words.insert(words.end(), {"-timeMode", "elapsed", "-sec", fmt::format("{}", limits.seconds)});
  } else {
    words.insert(words.end(), {"-maxNodes", fmt::format("{}", limits.nodes)});
  }
  if (!program.start.empty()) {
    if (!start_file.write(start_text(program)))
      return failed("the solver's starting solution cannot be written");
    words.insert(words.end(), {"-mipstart", start_file.path()});
  }
  words.insert(words.end(), {"-solve", "-solution", answer.path()});
  const pid_t child = start(std::move(words), {question.fd(), start_file.fd(), answer.fd()});
  if (child < 0) return failed("fork");
  const double most_s = timed ? limits.seconds * kPatience + kPatience_s : backstop_s_;
  const ChildEnd end = await(child, most_s);
  if (end == ChildEnd::outlived) {
    // One that hangs in a replay would hang in each of its rounds.
    given_up_ = !timed;
    return Failure<SolverError>{SolverError::failed,
                                fmt::format("{} had not ended after {} s", program_, most_s)};
  }
  if (end == ChildEnd::badly) {
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

Expected<std::string, PolicyError> read_policy_file(const std::filesystem::path& file) {
  const auto fault = [&](std::string_view why) {
    return Failure<PolicyError>{PolicyError::bad_file, fmt::format("{} {}", file.string(), why)};
  };
  std::error_code bad;
  // Nor the standard input, or a pipe, which would hold the process up.
  if (!std::filesystem::is_regular_file(file, bad)) return fault("is not a file that is there");
  auto text = read_text_file(file, kLargestPolicyFile_bytes);
  if (!text) return Failure<PolicyError>{PolicyError::bad_file, text.error().message};
  return std::move(text).value();
}

PolicyServices policy_services(SolverStop stop) {
  PolicyServices services;
  services.read_file = read_policy_file;
  const std::string program = find_program("cbc");
  if (!program.empty()) {
    services.solver = std::make_shared<CbcSolver>(program, stop);
  } else {
    services.no_solver =
        "needs the solver CBC, which is not in PATH: install Debian's package coinor-cbc";
  }
  return services;
}

}  // namespace muster
