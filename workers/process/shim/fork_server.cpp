#include "workers/process/shim/fork_server.hpp"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <utility>

#include "workers/process/shim/shim_server.hpp"

// The worker's side of a shim server: a pair of sockets on which each message is an order.

namespace muster::process {
namespace {

/// How long a server has to end, 1 s in all, before it is killed.
constexpr int kServerRounds = 1000;
constexpr timespec kServerPause{0, 1'000'000};

/// Frees what posix_spawn's settings hold.
struct SpawnSettings {
  SpawnSettings() {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
};

void describe_server(SpawnSettings& settings, int orders) {
  // A session of its own: signals to the worker's group do not reach it, nor any shim.
  posix_spawnattr_setflags(&settings.attributes, POSIX_SPAWN_SETSID);
  auto* actions = &settings.actions;
  posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(actions, orders, kServerOrders);
  posix_spawn_file_actions_addclosefrom_np(actions, kServerOrders + 1);
}

}  // namespace

ForkServer::ForkServer(std::filesystem::path program, std::filesystem::path attempts,
                       std::chrono::milliseconds patience)
    : program_(std::move(program)), attempts_(std::move(attempts)), patience_(patience) {}

ForkServer::~ForkServer() {
  end();
}

ForkServer::Made ForkServer::make_shim(const std::string& name, int lock, int channel) {
  if (!orders_ || !order(name, lock, channel)) {
    // The server is not there, or it was killed: an order that is refused has reached no process.
    std::string trouble = start();
    if (trouble.empty() && !order(name, lock, channel)) trouble = std::strerror(errno);
    if (!trouble.empty()) return {-1, "its supervisor " + program_ + ": " + trouble};
  }
  std::int32_t shim = 0;
  if (hear(&shim, sizeof shim) != sizeof shim) {
    stop_now();
    return {};
  }
  if (shim < 0) return {-1, std::string("its supervisor: no process: ") + std::strerror(-shim)};
  return {shim, ""};
}

/// Next bytes of the server, if they come in time: 0 at its end, negative without an answer.
ssize_t ForkServer::hear(void* said, std::size_t size) const {
  pollfd polled{orders_.get(), POLLIN, 0};
  int ready = 0;
  while ((ready = poll(&polled, 1, static_cast<int>(patience_.count()))) < 0 && errno == EINTR) {
  }
  return ready == 1 ? recv(orders_.get(), said, size, MSG_DONTWAIT) : -1;
}

std::string ForkServer::start() {
  end();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return std::strerror(errno);
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  // A copy with a higher number: a descriptor that is duplicated onto itself would close at exec.
  Descriptor high(fcntl(theirs.get(), F_DUPFD_CLOEXEC, kServerOrders + 1));
  if (!high) return std::strerror(errno);
  SpawnSettings settings;
  describe_server(settings, high.get());
  const std::string room(kLongestAttemptName, '-');
  const char* argv[] = {program_.c_str(), kShimServerVerb, attempts_.c_str(), room.c_str(),
                        nullptr};
  const int error = posix_spawn(&pid_, program_.c_str(), &settings.actions, &settings.attributes,
                                const_cast<char**>(argv), environ);
  if (error != 0) {
    pid_ = -1;
    return std::strerror(error);
  }
  orders_ = std::move(ours);
  // Or its end would not be heard of.
  theirs.reset();
  high.reset();
  char ready = 0;
  const ssize_t said = hear(&ready, sizeof ready);
  if (said == sizeof ready) return "";
  stop_now();
  return said == 0 ? "it exited at start-up: it is not a muster-shim, or of another version"
                   : "it does not answer";
}

void ForkServer::end() {
  // The server ends when this end is closed, after the orders that it has not read yet.
  orders_.reset();
  if (pid_ <= 0) return;
  pid_t ended = 0;
  for (int i = 0; i < kServerRounds && (ended = waitpid(pid_, nullptr, WNOHANG)) == 0; ++i) {
    nanosleep(&kServerPause, nullptr);
  }
  // Somebody has stopped it: it must not stop its worker.
  if (ended == 0) return stop_now();
  pid_ = -1;
}

void ForkServer::stop_now() {
  // Orders that it has not read go with it, and with them their channels.
  orders_.reset();
  if (pid_ > 0 && kill(pid_, SIGKILL) == 0) waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

bool ForkServer::order(const std::string& name, int lock, int channel) const {
  const std::array<int, 2> both{lock, channel};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof both)> room{};
  iovec text{const_cast<char*>(name.data()), name.size()};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof both);
  std::memcpy(CMSG_DATA(head), both.data(), sizeof both);
  while (sendmsg(orders_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

}  // namespace muster::process
