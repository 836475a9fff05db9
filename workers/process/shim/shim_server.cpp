#include "workers/process/shim/shim_server.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/shim/shim.hpp"

// A fork server: it is started once and has one thread and little memory, so that a fork of it
// takes a fraction of what it takes to start a program. It knows nothing of the attempts, so that
// its death costs no attempt that has begun.

namespace muster {
namespace {

using process::Descriptor;

/// An attempt that is to have a shim.
struct ServerOrder {
  std::string name;
  Descriptor lock;
  Descriptor channel;
};

enum class Heard : unsigned char { order, nothing, end };

/// Puts the descriptors that came with a message into the order, which has to have exactly two.
bool take_descriptors(msghdr& message, ServerOrder& order) {
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (head == nullptr || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) {
    return false;
  }
  std::array<int, 2> both{-1, -1};
  const std::size_t came = std::min(head->cmsg_len - CMSG_LEN(0), sizeof both);
  std::memcpy(both.data(), CMSG_DATA(head), came);
  // One that came alone is closed: a lock that stays open would keep its attempt alive for ever.
  order.lock = Descriptor(both[0]);
  order.channel = Descriptor(both[1]);
  return came == sizeof both;
}

Heard hear(int orders, ServerOrder& order) {
  std::array<char, process::kLongestAttemptName> name{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> room{};
  iovec text{name.data(), name.size()};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  const ssize_t got = recvmsg(orders, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? Heard::nothing : Heard::end;
  if (got == 0) return Heard::end;
  order.name.assign(name.data(), static_cast<std::size_t>(got));
  // A name with a slash could lead out of the folder; only a worker can send one, and does not.
  const bool good = take_descriptors(message, order) && process::key_from(order.name).has_value();
  return good ? Heard::order : Heard::nothing;
}

/// Shows the attempt to `ps`: writes "PROGRAM shim FOLDER" over the words of this process, which
/// lie one behind the other from the first on and end with as much room as that may need.
void show_attempt(const std::string& attempts, const std::string& folder) {
  const std::string program = program_invocation_name;
  std::string words = program + '\0' + kShimServerVerb + '\0' + attempts + '\0';
  if (std::memcmp(program_invocation_name, words.data(), words.size()) != 0) return;
  const std::size_t all = words.size() + process::kLongestAttemptName + 1;
  words = program + '\0' + "shim" + '\0' + folder + '\0';
  words.resize(all);
  std::memcpy(program_invocation_name, words.data(), all);
}

/// Main function of a fork.
[[noreturn]] void become_shim(ServerOrder order, const std::string& attempts) {
  // A session of its own: signals to the group of another shim or of the server do not reach it.
  setsid();
  const std::string folder = attempts + "/" + order.name;
  show_attempt(attempts, folder);
  // The lock's file holds what the shim complains of.
  dup2(order.lock.get(), STDERR_FILENO);
  _exit(supervise_attempt(folder, std::move(order.lock), std::move(order.channel)));
}

void reap() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

/// Has SIGCHLD come while the server waits, and never else; the mask to wait with.
sigset_t take_child_signals() {
  struct sigaction noted {};
  noted.sa_handler = [](int) {};
  sigaction(SIGCHLD, &noted, nullptr);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  sigset_t open;
  sigemptyset(&open);
  return open;
}

}  // namespace

int serve_shims(const std::string& attempts) {
  const sigset_t waiting = take_child_signals();
  Descriptor orders(process::kServerOrders);
  send(orders.get(), &process::kServerReady, sizeof process::kServerReady, MSG_NOSIGNAL);
  while (true) {
    pollfd polled{orders.get(), POLLIN, 0};
    // The only place where SIGCHLD is heard: no end of a shim is missed between two looks.
    ppoll(&polled, 1, nullptr, &waiting);
    reap();
    ServerOrder order;
    const Heard heard = hear(orders.get(), order);
    if (heard == Heard::end) return 0;
    if (heard == Heard::nothing) continue;
    const pid_t shim = fork();
    if (shim == 0) {
      orders.reset();
      become_shim(std::move(order), attempts);
    }
    const std::int32_t answer = shim > 0 ? shim : -errno;
    send(orders.get(), &answer, sizeof answer, MSG_NOSIGNAL);
  }
}

}  // namespace muster
