#include "workers/process/shim/shim_files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <string_view>
#include <vector>

#include "workers/process/descriptor.hpp"
#include "workers/process/limits/limits.hpp"
#include "workers/process/shim/shim_sockets.hpp"

namespace muster::process {
namespace {

constexpr const char* kProgram = "muster-files";
/// As the system marks the path of a program whose file was replaced or removed.
constexpr std::string_view kDeleted = " (deleted)";
constexpr std::size_t kMostReason = 4096;
constexpr int kNice = 5;
/// CLOSE_RANGE_CLOEXEC, which older headers lack.
constexpr unsigned kCloseAtExec = 4;

/// As of a program that SIGTERM has ended.
constexpr std::int32_t kLeftEarly = 143;
/// Longest that outputs are waited for after a stop: a machine that is to go may be gone soon.
constexpr Duration kStopPatience = std::chrono::seconds{60};

/// How the program has ended.
struct FilesEnd {
  bool done = false;
  bool is_fault = false;    ///< of the job
  bool is_missing = false;  ///< of the job: outputs are missing, and that is all
  bool is_late = false;     ///< it took longer than it may
  std::string reason;
  /// Since boot, when its attempt was asked to stop meanwhile; nothing: it was not.
  std::optional<Duration> asked_to_stop{};
};

/// The bounds of the program's run.
struct FilesBounds {
  Duration patience{};
  bool ends_on_stop = false;  ///< a request to stop ends the program
};

/// The program that lies beside this one.
std::string program_path() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  std::string own(path, size > 0 ? static_cast<std::size_t>(size) : 0);
  if (own.ends_with(kDeleted)) own.resize(own.size() - kDeleted.size());
  return own.substr(0, own.rfind('/') + 1) + kProgram;
}

/// Only system calls, so that the process is the program soon.
[[noreturn]] void become(const char* program, const char* const* words, int out, pid_t parent) {
  sigset_t no_signals;
  sigemptyset(&no_signals);
  sigprocmask(SIG_SETMASK, &no_signals, nullptr);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(out, 1) < 0) _exit(kFilesTrouble);
  syscall(SYS_close_range, 3u, ~0u, kCloseAtExec);
  setpriority(PRIO_PROCESS, 0, kNice);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the signal was set.
  if (getppid() != parent) _exit(kFilesTrouble);
  execv(program, const_cast<char* const*>(words));
  _exit(kFilesTrouble);
}

/// The program on its way, and the pipe on which it says why it fails.
struct Running {
  pid_t pid = -1;
  Descriptor said;
};

Running begin(const std::string& program, const char* way, const std::string& attempt) {
  Running running;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return running;
  running.said = Descriptor(ends[0]);
  const Descriptor out(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const char* const words[] = {program.c_str(), way, attempt.c_str(), nullptr};
  const pid_t parent = getpid();
  running.pid = fork();
  if (running.pid == 0) become(program.c_str(), words, out.get(), parent);
  return running;
}

void hear_reason(const Descriptor& said, std::string& reason) {
  char part[512];
  ssize_t got = 0;
  while ((got = read(said.get(), part, sizeof part)) > 0) {
    const std::size_t room = kMostReason - std::min(kMostReason, reason.size());
    reason.append(part, std::min(room, static_cast<std::size_t>(got)));
  }
}

/// Follows the program to its end.
class FilesWatch {
 public:
  FilesWatch(Running running, const FilesWait& wait, const FilesBounds& bounds)
      : running_(std::move(running)),
        wait_(wait),
        ends_on_stop_(bounds.ends_on_stop),
        end_by_(boot_time() + bounds.patience) {}

  FilesEnd run() {
    while (!is_over()) look();
    hear_reason(running_.said, end_.reason);
    return end_of_program();
  }

 private:
  bool is_over() {
    const pid_t ended = waitpid(running_.pid, &status_, WNOHANG);
    if (ended < 0 && errno == EINTR) return false;
    // Its end was heard of elsewhere, and cannot be told any more.
    if (ended < 0) status_ = kFilesTrouble << 8;
    return ended != 0;
  }

  void look() {
    std::vector<pollfd> polled{{wait_.signals, POLLIN, 0}, {running_.said.get(), POLLIN, 0}};
    // At its end it would be ready for ever, and the end shows by SIGCHLD.
    if (said_all_) polled.pop_back();
    wait_.control.add_to(polled);
    poll(polled.data(), polled.size(), wait_ms());
    if (!said_all_ && (polled[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      hear_reason(running_.said, end_.reason);
      said_all_ = (polled[1].revents & POLLIN) == 0;
    }
    wait_.control.serve(polled, [this](std::string_view line) { return hear(line); });
    hear_signals();
    const Duration now = boot_time();
    if (const auto end = wait_.lease.end(); end && now >= *end) {
      give_up("the lease of its machine has ended");
    }
    if (now < end_by_ || !given_up_.empty()) return;
    end_.is_late = true;
    give_up("that takes longer than it may (files.patience of the cluster file)");
  }

  int wait_ms() const {
    const Duration now = boot_time();
    Duration until = std::max(end_by_, now);
    if (const auto wait = wait_.lease.look_in(now)) until = std::min(until, now + *wait);
    // A kill is under way then, and its SIGCHLD is to come.
    if (!given_up_.empty()) until = now + std::chrono::seconds{1};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
  }

  std::optional<std::string> hear(std::string_view line) {
    if (line == "stop") {
      stop();
    } else if (line.starts_with(kDiskFull)) {
      give_up(std::string(line.substr(kDiskFull.size())));
    } else if (line.starts_with(kDiskFullOfCheckpoints)) {
      give_up(std::string(line.substr(kDiskFullOfCheckpoints.size())));
    }
    return "";
  }

  void hear_signals() {
    signalfd_siginfo info{};
    while (read(wait_.signals, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGTERM) stop();
    }
  }

  void stop() {
    if (!ends_on_stop_) return;
    if (!end_.asked_to_stop) end_.asked_to_stop = boot_time();
    give_up("it was asked to stop before");
  }

  /// The first reason stands.
  void give_up(std::string reason) {
    if (given_up_.empty()) given_up_ = std::move(reason);
    kill(running_.pid, SIGKILL);
  }

  FilesEnd end_of_program() {
    const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : kFilesTrouble;
    end_.done = code == kFilesDone && given_up_.empty();
    end_.is_missing = code == kFilesMissing && given_up_.empty();
    end_.is_fault = end_.is_missing || (code == kFilesFault && given_up_.empty());
    // Behind the line on what it has waited for stands why it failed.
    const std::size_t line = end_.reason.rfind('\n');
    const bool has_waited = line != std::string::npos;
    if (!given_up_.empty()) {
      end_.reason = given_up_ + (has_waited ? ": " + end_.reason.substr(0, line) : "");
    } else if (has_waited) {
      end_.reason.erase(0, line + 1);
    }
    if (end_.done || !end_.reason.empty()) return std::move(end_);
    end_.reason =
        WIFSIGNALED(status_)
            ? std::string(kProgram) + " was killed by signal " + std::to_string(WTERMSIG(status_))
            : std::string(kProgram) + ", which moves files, did not do it";
    return std::move(end_);
  }

  Running running_;
  const FilesWait& wait_;
  bool ends_on_stop_;
  Duration end_by_;
  int status_ = 0;
  bool said_all_ = false;
  std::string given_up_;  ///< why it is killed; empty: it is not
  FilesEnd end_;
};

FilesEnd move_files(const char* way, const std::string& attempt, const FilesWait& wait,
                    const FilesBounds& bounds) {
  const std::string program = program_path();
  FilesEnd end;
  if (access(program.c_str(), X_OK) != 0) {
    end.reason = program + ": " + std::strerror(errno);
    return end;
  }
  Running running = begin(program, way, attempt);
  if (running.pid < 0) {
    end.reason = program + " cannot be started: " + std::strerror(errno);
    return end;
  }
  return FilesWatch(std::move(running), wait, bounds).run();
}

/// Where outputs need not be tried to be kept: why.
std::string hindrance(const TaskEnd& end) {
  if (end.why == Ending::lease) return "the lease of its machine has ended";
  return end.disk_reason.empty() ? "" : "the disk is full";
}

}  // namespace

std::optional<FilesFailure> bring_files(const Order& order, const std::string& attempt,
                                        const FilesWait& wait, TaskEnd& end) {
  const FilesEnd moved = move_files(kFilesIn, attempt, wait, {order.worker.files_patience, true});
  if (moved.done) return std::nullopt;
  FilesFailure failure;
  failure.reason = "cannot start: its files did not come: " + moved.reason;
  if (moved.is_fault) failure.kind = EndKind::not_started;
  if (moved.is_late) failure.kind = EndKind::files_late;
  if (moved.asked_to_stop) {
    // It leaves, and has nothing that could be saved.
    failure.kind = EndKind::left_early;
    end.start_failure_code = kLeftEarly;
    end.why = Ending::stop;
    end.asked_to_stop = *moved.asked_to_stop;
  }
  return failure;
}

void keep_outputs(const Order& order, const std::string& attempt, const FilesWait& wait,
                  TaskEnd& end) {
  if (order.program.outputs.empty() || !end.start_failure.empty()) return;
  FilesEnd moved;
  moved.reason = hindrance(end);
  if (moved.reason.empty()) {
    const Duration patience = order.worker.files_patience;
    const bool hurries = end.why == Ending::stop;
    moved = move_files(kFilesOut, attempt, wait,
                       {hurries ? std::min(patience, kStopPatience) : patience, false});
  }
  if (moved.done) return;
  end.outputs_fault =
      moved.is_fault ? std::move(moved.reason) : "its outputs were not kept: " + moved.reason;
  end.outputs_missing = moved.is_missing;
  end.outputs_trouble = !moved.is_fault && !moved.is_late;
}

}  // namespace muster::process
