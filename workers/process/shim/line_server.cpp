#include "workers/process/shim/line_server.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

// Peers are tasks and may be hostile: all they can do is bounded (connections, lines, bytes a
// round), and nothing is ever waited for.

namespace muster::process {
namespace {

constexpr int kAcceptsARound = 16;

bool is_ready(const std::vector<pollfd>& polled, int fd) {
  return std::any_of(polled.begin(), polled.end(),
                     [fd](const pollfd& entry) { return entry.fd == fd && entry.revents != 0; });
}

}  // namespace

std::optional<uid_t> user_of_peer(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

bool is_peer_in_own_namespace(int connection) {
  return is_peer_in_namespace_of(connection, getpid());
}

bool is_peer_in_namespace_of(int connection, pid_t process) {
  struct stat own {};
  if (stat("/proc/self/ns/user", &own) != 0) return true;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  const auto user_namespace = [](pid_t pid) {
    struct stat found {};
    const std::string path = "/proc/" + std::to_string(pid) + "/ns/user";
    return stat(path.c_str(), &found) == 0 ? found.st_ino : ino_t{0};
  };
  const ino_t wanted = user_namespace(process);
  return wanted != 0 && user_namespace(peer.pid) == wanted;
}

bool send_text(int connection, std::string_view text) {
  return send(connection, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(text.size());
}

void LineServer::add(Descriptor connection) {
  if (!connection || peers_.size() >= bounds_.connections) return;
  const std::string greeting = greeting_ ? greeting_() : "";
  if (!greeting.empty() && !send_text(connection.get(), greeting)) return;
  peers_.push_back({std::move(connection), ""});
}

void LineServer::add_to(std::vector<pollfd>& polled) const {
  if (listener_) polled.push_back({listener_.get(), POLLIN, 0});
  for (const Peer& peer : peers_) polled.push_back({peer.connection.get(), POLLIN, 0});
}

bool LineServer::serve(const std::vector<pollfd>& polled, const Answer& answer) {
  bool heard = false;
  // By index: erasing moves the others down, and accept_all() below adds to the end.
  for (std::size_t i = 0; i < peers_.size();) {
    Peer& peer = peers_[i];
    const bool ready = is_ready(polled, peer.connection.get());
    heard = heard || ready;
    if (ready && !hear(peer, answer)) {
      peers_.erase(peers_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (listener_ && is_ready(polled, listener_.get())) {
    accept_all();
    heard = true;
  }
  return heard;
}

void LineServer::accept_all() {
  // Bounded, so that a flood of connections cannot keep the owner from its other work.
  for (int i = 0; i < kAcceptsARound; ++i) {
    Descriptor connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) return;
    const auto user = user_of_peer(connection.get());
    // Processes of other users may reach an abstract socket as well.
    if (!user || std::find(users_.begin(), users_.end(), *user) == users_.end()) continue;
    if (own_namespace_only_ && !is_peer_in_own_namespace(connection.get())) continue;
    if (of_namespace_ && !is_peer_in_namespace_of(connection.get(), of_namespace_())) continue;
    add(std::move(connection));
  }
}

bool LineServer::hear(Peer& peer, const Answer& answer) const {
  std::string chunk(bounds_.bytes_a_round, '\0');
  const ssize_t got = recv(peer.connection.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  peer.input.append(chunk, 0, static_cast<std::size_t>(got));
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = peer.input.find('\n', begin);
    const std::size_t length = (end == std::string::npos ? peer.input.size() : end) - begin;
    // A line without an end counts as it grows, or a peer could fill the memory.
    if (length > bounds_.line_bytes) {
      send_text(peer.connection.get(), "error: the line is too long\n");
      return false;
    }
    if (end == std::string::npos) break;
    const auto said = answer(std::string_view(peer.input).substr(begin, length));
    if (!said || (!said->empty() && !send_text(peer.connection.get(), *said))) return false;
    begin = end + 1;
  }
  peer.input.erase(0, begin);
  return true;
}

void LineServer::tell(std::string_view text) {
  // A peer that does not read is cut off rather than waited for.
  std::erase_if(peers_,
                [text](const Peer& peer) { return !send_text(peer.connection.get(), text); });
}

}  // namespace muster::process
