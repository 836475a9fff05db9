#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "actors/link/tls.hpp"

namespace muster::test {

/// A blocking end of a connection to a port of this machine, for sending whatever comes to mind.
/// Nothing waits longer than ten seconds.
class RawPeer {
 public:
  explicit RawPeer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    // OpenSSL writes without MSG_NOSIGNAL.
    std::signal(SIGPIPE, SIG_IGN);
    const timeval limit{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawPeer() {
    tls_.reset();
    close(socket_);
  }
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;

  bool connected() const { return connected_; }

  /// In TLS 1.3 the client's side is done before the server has judged its certificate.
  bool start_tls(const TlsContext& context) {
    tls_.reset(SSL_new(context->native_handle()));
    SSL_set_fd(tls_.get(), socket_);
    return SSL_connect(tls_.get()) == 1;
  }

  bool send(std::string_view bytes) {
    if (tls_) {
      return SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
             static_cast<int>(bytes.size());
    }
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }

  /// Up to `most` bytes; fewer when the connection ends before.
  std::string receive(std::size_t most) {
    std::string bytes(most, '\0');
    std::size_t held = 0;
    while (held < most) {
      const auto got = read_some(bytes.data() + held, most - held);
      if (got <= 0) break;
      held += static_cast<std::size_t>(got);
    }
    bytes.resize(held);
    return bytes;
  }

  /// Reads on until the other end has closed; false when it does not.
  bool is_closed_by_other() {
    char byte = 0;
    for (;;) {
      errno = 0;
      const auto got = read_some(&byte, 1);
      if (got <= 0) return errno != EAGAIN && errno != EWOULDBLOCK;
    }
  }

  void finish_sending() { shutdown(socket_, SHUT_WR); }
  /// Goes without a farewell: the other end sees a reset.
  void reset() {
    const linger now{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }

 private:
  struct Free {
    void operator()(SSL* tls) const { SSL_free(tls); }
  };
  ssize_t read_some(char* into, std::size_t most) {
    return tls_ ? SSL_read(tls_.get(), into, static_cast<int>(most)) : recv(socket_, into, most, 0);
  }

  int socket_;
  bool connected_ = false;
  std::unique_ptr<SSL, Free> tls_;
};

}  // namespace muster::test
