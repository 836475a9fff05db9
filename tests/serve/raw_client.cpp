#include "tests/serve/raw_client.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <sstream>

namespace muster::api {
namespace {

constexpr int kPatienceMs = 20'000;

}  // namespace

RawClient::RawClient(std::uint16_t port, const char* from)
    : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = inet_addr(from);
  if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::abort();
  }
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket_);
    socket_ = -1;
  }
}

RawClient::~RawClient() {
  if (socket_ >= 0) {
    ::close(socket_);
  }
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd ready{socket_, POLLOUT, 0};
    if (::poll(&ready, 1, kPatienceMs) <= 0) {
      return false;
    }
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void RawClient::finish_sending() {
  ::shutdown(socket_, SHUT_WR);
}

bool RawClient::more() {
  pollfd ready{socket_, POLLIN, 0};
  if (::poll(&ready, 1, kPatienceMs) <= 0) {
    return false;
  }
  std::array<char, 65'536> buffer{};
  const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (got <= 0) {
    return false;
  }
  unread_.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

RawResponse RawClient::receive(bool bodiless) {
  RawResponse response;
  std::size_t end = 0;
  while ((end = unread_.find("\r\n\r\n")) == std::string::npos) {
    if (!more()) {
      return response;
    }
  }
  std::istringstream lines(unread_.substr(0, end));
  std::string line;
  std::getline(lines, line);
  const int status = line.size() > 9 ? std::atoi(line.c_str() + 9) : 0;
  while (std::getline(lines, line)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && line.size() > colon + 2) {
      const std::size_t last = line.ends_with('\r') ? line.size() - 1 : line.size();
      response.headers[line.substr(0, colon)] = line.substr(colon + 2, last - colon - 2);
    }
  }
  unread_.erase(0, end + 4);
  const auto length = response.headers.find("Content-Length");
  const std::size_t size = bodiless || length == response.headers.end()
                               ? 0
                               : std::strtoull(length->second.c_str(), nullptr, 10);
  while (unread_.size() < size) {
    if (!more()) {
      return response;
    }
  }
  response.body = unread_.substr(0, size);
  unread_.erase(0, size);
  response.status = status;
  return response;
}

bool RawClient::closed() {
  if (!unread_.empty()) {
    return false;
  }
  pollfd ready{socket_, POLLIN, 0};
  if (::poll(&ready, 1, kPatienceMs) <= 0) {
    return false;
  }
  char byte = 0;
  return ::recv(socket_, &byte, 1, 0) <= 0;
}

std::string request_text(std::string_view method, std::string_view target, std::string_view body,
                         std::string_view headers) {
  const std::string length =
      body.empty() ? std::string() : fmt::format("Content-Length: {}\r\n", body.size());
  return fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{}{}\r\n{}",
                     method, target, kToken, length, headers, body);
}

RawResponse ask(std::uint16_t port, std::string_view method, std::string_view target,
                std::string_view body) {
  RawClient client(port);
  client.send(request_text(method, target, body));
  return client.receive(method == "HEAD");
}

}  // namespace muster::api
