#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workers/process/descriptor.hpp"

namespace muster::test {

/// Listens on a port of the loopback and answers every request by one text.
class TinyServer {
 public:
  /// 0: a port that the system chooses.
  explicit TinyServer(std::uint32_t port = 0) {
    const int on = 1;
    setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_port = htons(static_cast<std::uint16_t>(port));
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof own;
    if (bind(listener_.get(), reinterpret_cast<const sockaddr*>(&own), size) != 0 ||
        ::listen(listener_.get(), 64) != 0 ||
        getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) {
      return;
    }
    port_ = ntohs(own.sin_port);
  }

  /// 0: the wanted one is not to be had.
  std::uint32_t port() const { return port_; }
  /// Empty: it takes requests and stays silent.
  void answer_by(std::string answer) { answer_ = std::move(answer); }
  /// Connections end as soon as they are there.
  void hang_up() { hangs_up_ = true; }

  /// Goes on with all connections, without waiting.
  void serve() {
    while (true) {
      process::Descriptor connection(
          accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!connection) break;
      if (!hangs_up_) open_.push_back({std::move(connection), ""});
    }
    std::erase_if(open_, [this](Visit& visit) { return goes(visit); });
  }

  std::vector<std::string> requests;

 private:
  struct Visit {
    process::Descriptor connection;
    std::string request;
  };

  bool goes(Visit& visit) {
    char chunk[1024];
    const ssize_t got = recv(visit.connection.get(), chunk, sizeof chunk, 0);
    if (got == 0) return true;
    if (got < 0) return errno != EAGAIN;
    visit.request.append(chunk, static_cast<std::size_t>(got));
    if (!visit.request.ends_with("\r\n\r\n")) return false;
    requests.push_back(visit.request);
    if (answer_.empty()) return false;
    send(visit.connection.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
    return true;
  }

  process::Descriptor listener_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  std::uint32_t port_ = 0;
  std::string answer_;
  bool hangs_up_ = false;
  std::vector<Visit> open_;
};

}  // namespace muster::test
