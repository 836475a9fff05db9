#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "model/check.hpp"
#include "workers/process/descriptor.hpp"

namespace muster::test {

/// "HTTP/1.1 STATUS Said", with the headers, each ended by a line break, and the body.
inline std::string reply_of(int status, const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 " + std::to_string(status) + " Said\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// An HTTP server on the loopback that takes one connection after the other. An empty answer closes
/// the connection instead.
class FakeServer {
 public:
  /// Gives the answer to a request, of which it gets head and body; called on the server's thread.
  using Answer = std::function<std::string(const std::string& request)>;

  /// Gives these answers, one a request, in their order, the last one again and again.
  explicit FakeServer(std::vector<std::string> answers)
      : FakeServer(
            [answers = std::move(answers), given = std::size_t{0}](const std::string&) mutable {
              return answers[std::min(given++, answers.size() - 1)];
            }) {}
  explicit FakeServer(Answer answer) : answer_(std::move(answer)) {
    listening_ = process::Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in name = loopback();
    socklen_t size = sizeof name;
    auto* plain = reinterpret_cast<sockaddr*>(&name);
    const bool listens = bind(listening_.get(), plain, size) == 0 &&
                         listen(listening_.get(), 16) == 0 &&
                         getsockname(listening_.get(), plain, &size) == 0;
    MUSTER_CHECK(listens, "a test without a server");
    port_ = ntohs(name.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeServer() {
    ends_ = true;
    thread_.join();
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  std::string api() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// Heads and bodies of what was asked so far.
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  /// Connections that were taken so far.
  int connections() const { return connections_; }

 private:
  static sockaddr_in loopback() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return name;
  }
  /// Something to read, or somebody to take; false: the test is over.
  bool wait_for(int descriptor) const {
    constexpr int kLook_ms = 10;
    while (!ends_) {
      pollfd polled{descriptor, POLLIN, 0};
      if (poll(&polled, 1, kLook_ms) > 0) return true;
    }
    return false;
  }
  void serve() {
    while (wait_for(listening_.get())) {
      const process::Descriptor peer(accept(listening_.get(), nullptr, nullptr));
      ++connections_;
      std::string got;
      while (answer(peer.get(), got)) {
      }
    }
  }
  /// Answers one request of the connection; false: it is over.
  bool answer(int peer, std::string& got) {
    while (true) {
      const std::size_t head = got.find("\r\n\r\n");
      const std::size_t whole = head == std::string::npos ? 0 : head + 4 + length_in(got, head);
      if (head != std::string::npos && got.size() >= whole) {
        const std::string said = next(got.substr(0, whole));
        got.erase(0, whole);
        return !said.empty() && send_all(peer, said);
      }
      if (!wait_for(peer)) return false;
      std::string piece(65'536, '\0');
      const ssize_t count = recv(peer, piece.data(), piece.size(), 0);
      if (count <= 0) return false;
      got.append(piece, 0, static_cast<std::size_t>(count));
    }
  }
  static std::size_t length_in(const std::string& text, std::size_t head) {
    const std::string name = "Content-Length: ";
    const std::size_t at = text.find(name);
    return at < head ? std::stoul(text.substr(at + name.size())) : 0;
  }
  static bool send_all(int peer, std::string_view said) {
    while (!said.empty()) {
      const ssize_t count = send(peer, said.data(), said.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      said.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  std::string next(std::string request) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    return answer_(request);
  }

  Answer answer_;
  process::Descriptor listening_;
  std::uint16_t port_ = 0;
  std::atomic<bool> ends_{false};
  std::atomic<int> connections_{0};
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace muster::test
