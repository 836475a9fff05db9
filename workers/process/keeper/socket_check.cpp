// Reads the heads of answers by the parser of Boost.Beast, from one socket that never blocks.

#include "workers/process/keeper/socket_check.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cerrno>
#include <cstring>

namespace muster::process {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kMostAnswerBytes = std::size_t{16} << 10;
constexpr unsigned kLeastGood = 200;
constexpr unsigned kLeastBad = 400;
constexpr const char* kNoHttp = "the answer is not HTTP";

bool must_wait(int error) {
  return error == EAGAIN || error == EINPROGRESS || error == EALREADY || error == EINTR;
}

/// As the system says it, with a small letter: it stands behind what was asked.
std::string error_words(int error) {
  std::string words = std::strerror(error);
  if (words.front() >= 'A' && words.front() <= 'Z') {
    words.front() = static_cast<char>(words.front() - 'A' + 'a');
  }
  return words;
}

/// Takes a whole head off the bytes; its status. Nothing until it is whole.
std::optional<unsigned> take_head(std::string& bytes, boost::beast::error_code& error) {
  http::response_parser<http::empty_body> parser;
  parser.header_limit(kMostAnswerBytes);
  // The body is not waited for, whatever the head says of it.
  parser.skip(true);
  const std::size_t used = parser.put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  if (error == http::error::need_more) error = {};
  if (error || !parser.is_header_done()) return std::nullopt;
  bytes.erase(0, used);
  return parser.get().result_int();
}

}  // namespace

SocketCheck::SocketCheck(std::uint32_t port, const std::string& path)
    : port_(port),
      asks_(!path.empty()),
      socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  if (asks_) {
    unsent_ = "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
              "\r\nUser-Agent: muster\r\nAccept: */*\r\nConnection: close\r\n\r\n";
  }
}

std::optional<std::string> SocketCheck::go_on() {
  if (!connected_) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_port = htons(static_cast<std::uint16_t>(port_));
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // Called again it tells what has become of it.
    if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) {
      if (must_wait(errno)) return std::nullopt;
      return error_words(errno);
    }
    connected_ = true;
  }
  if (!asks_) return "";
  while (!unsent_.empty()) {
    const ssize_t sent = send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent < 0 && must_wait(errno)) return std::nullopt;
    if (sent < 0) return error_words(errno);
    unsent_.erase(0, static_cast<std::size_t>(sent));
  }
  return read_answer();
}

std::optional<std::string> SocketCheck::read_answer() {
  std::array<char, 4096> chunk;
  const ssize_t got = recv(socket_.get(), chunk.data(), chunk.size(), 0);
  if (got < 0 && must_wait(errno)) return std::nullopt;
  if (got < 0) return error_words(errno);
  if (got == 0) return heard_ == 0 ? "it closed without an answer" : kNoHttp;
  heard_ += static_cast<std::size_t>(got);
  // A server that sends without an end does not speak HTTP.
  if (heard_ > kMostAnswerBytes) return kNoHttp;
  answer_.append(chunk.data(), static_cast<std::size_t>(got));
  boost::beast::error_code error;
  while (const auto status = take_head(answer_, error)) {
    // The right answer comes behind those of status 1xx.
    if (*status < kLeastGood) continue;
    return *status < kLeastBad ? "" : "status " + std::to_string(*status);
  }
  if (error) return kNoHttp;
  return std::nullopt;
}

pollfd SocketCheck::waits_for() const {
  return {socket_.get(), static_cast<short>(connected_ && unsent_.empty() ? POLLIN : POLLOUT), 0};
}

}  // namespace muster::process
