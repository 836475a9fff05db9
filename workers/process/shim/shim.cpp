#include "workers/process/shim/shim.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "workers/process/shim/shim_run.hpp"

namespace muster {
namespace {

constexpr int kLockDescriptor = 3;
constexpr int kExecutorDescriptor = 4;

int complain(const char* what) {
  std::fprintf(stderr, "muster shim: %s: %s\n", what, std::strerror(errno));
  return 1;
}

/// The signals that the shim takes by descriptor; all others but SIGKILL are left ignored or fatal.
process::Descriptor take_signals() {
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGCHLD);
  sigaddset(&taken, SIGTERM);
  sigprocmask(SIG_SETMASK, &taken, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (const int number : {SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2}) {
    sigaction(number, &ignore, nullptr);
  }
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &plain, nullptr);
  return process::Descriptor(signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

int supervise_attempt(const std::string& path, process::Descriptor lock,
                      process::Descriptor executor) {
  // Others of this machine need not see what a task writes.
  umask(077);
  process::Descriptor folder = process::open_folder(path);
  if (!folder) return complain(path.c_str());
  if (!lock) lock = process::take_lock(folder.get());
  if (!lock) return complain("the attempt's lock");
  const auto text =
      process::read_whole(folder.get(), process::kOrderFile, process::kMaxRecordBytes);
  auto order = text ? process::order_from(*text) : std::nullopt;
  if (!order || order->program.argv.empty()) return complain("the attempt's order cannot be read");
  // Before the task is there: its orphans come back to this process.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  process::Descriptor signals = take_signals();
  if (!signals) return complain("signals");
  process::ShimRun run({path, std::move(folder), std::move(signals), std::move(executor)},
                       std::move(*order));
  return run.run() ? 0 : 1;
}

int take_over_attempt(const std::string& path) {
  process::Descriptor lock;
  process::Descriptor executor;
  if (fcntl(kLockDescriptor, F_SETFD, FD_CLOEXEC) == 0) {
    lock = process::Descriptor(kLockDescriptor);
    if (fcntl(kExecutorDescriptor, F_SETFD, FD_CLOEXEC) == 0) {
      executor = process::Descriptor(kExecutorDescriptor);
    }
  }
  return supervise_attempt(path, std::move(lock), std::move(executor));
}

int shim_main(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "shim") {
    std::fputs("usage: muster shim ATTEMPT_DIR (a worker's fork server makes shims)\n", stderr);
    return 2;
  }
  return take_over_attempt(argv[2]);
}

}  // namespace muster
