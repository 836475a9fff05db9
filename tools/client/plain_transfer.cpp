// Speaks HTTP to an API on this machine by a socket. The command line starts for every request, and
// libcurl with the thirty libraries behind it would take several times as long to load as all else.

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "config/numbers.hpp"
#include "tools/client/response_reader.hpp"
#include "tools/client/transfer.hpp"
#include "workers/process/descriptor.hpp"

namespace muster::client {
namespace {

using process::Descriptor;
using PlainClock = std::chrono::steady_clock;
using Moment = PlainClock::time_point;

/// Longest time until a stop is noticed; a signal ends the waiting at once.
constexpr Duration kLongestPoll = std::chrono::milliseconds{200};
/// A server may ask for any number of seconds, and a Duration is in ns: a day is for good.
constexpr std::uint64_t kLongestRetryS = 86'400;

/// Host and port of a URL like http://127.0.0.1:8800.
struct PlainAddress {
  sockaddr_in socket{};
  std::string host;    ///< as the Host header has it
  std::string prefix;  ///< of all paths
};

std::optional<PlainAddress> plain_address(std::string_view api) {
  constexpr std::string_view kScheme = "http://";
  constexpr std::uint64_t kHttpPort = 80, kLargestPort = 65'535;
  if (!api.starts_with(kScheme)) return std::nullopt;
  api.remove_prefix(kScheme.size());
  const std::size_t slash = std::min(api.find('/'), api.size());
  PlainAddress address;
  address.host = api.substr(0, slash);
  address.prefix = api.substr(slash);
  const std::size_t colon = std::min(address.host.find(':'), address.host.size());
  std::optional<std::uint64_t> port = kHttpPort;
  if (colon < address.host.size()) port = parse_whole(address.host.substr(colon + 1));
  // Characters that belong into no path are for libcurl to judge.
  const bool odd = address.prefix.find_first_of("?# ") != std::string::npos;
  if (odd || !port || *port == 0 || *port > kLargestPort) return std::nullopt;
  const std::string number = address.host.substr(0, colon);
  const bool is_address = inet_pton(AF_INET, number.c_str(), &address.socket.sin_addr) == 1;
  if (!is_address || !number.starts_with("127.")) return std::nullopt;
  address.socket.sin_family = AF_INET;
  address.socket.sin_port = htons(static_cast<std::uint16_t>(*port));
  return address;
}

HttpReply broken_off(Outcome outcome, std::string reason) {
  HttpReply reply;
  reply.outcome = outcome;
  reply.reason = std::move(reason);
  return reply;
}

HttpReply late() {
  return broken_off(Outcome::lost, "it took too long");
}

class PlainTransfer final : public Transfer {
 public:
  explicit PlainTransfer(TransferOptions options) : options_(std::move(options)) {}

  HttpReply perform(const std::string& api, const HttpRequest& request, Duration limit) override;

 private:
  enum class Wait : std::uint8_t { ready, late, stopped };

  Wait wait_for(short events, Moment until, short& found) const;
  std::optional<HttpReply> connect_to(const PlainAddress& address, Moment until);
  HttpReply exchange(const std::string& message, Moment until);
  std::string message_of(const PlainAddress& address, const HttpRequest& request) const;
  bool is_open() const;

  TransferOptions options_;
  Descriptor socket_;      ///< to `connected_`, while it is kept
  std::string connected_;  ///< the API
  bool heard_ = false;     ///< something of the present answer has come
};

/// Waits until one of the events is there.
PlainTransfer::Wait PlainTransfer::wait_for(short events, Moment until, short& found) const {
  while (true) {
    if (options_.stop_asked && options_.stop_asked()) return Wait::stopped;
    const Duration left = until - PlainClock::now();
    if (left <= Duration::zero()) return Wait::late;
    const auto length = std::chrono::ceil<std::chrono::milliseconds>(std::min(left, kLongestPoll));
    pollfd polled{socket_.get(), events, 0};
    const int ready = poll(&polled, 1, static_cast<int>(length.count()));
    found = polled.revents;
    if (ready > 0) return Wait::ready;
  }
}

/// Nothing when it is connected; else what the try came to.
std::optional<HttpReply> PlainTransfer::connect_to(const PlainAddress& address, Moment until) {
  connected_.clear();
  socket_ = Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_) return broken_off(Outcome::failed, std::strerror(errno));
  const int on = 1;
  // Without it the end of a long body would wait for the acknowledgement of its beginning.
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const auto* name = reinterpret_cast<const sockaddr*>(&address.socket);
  if (connect(socket_.get(), name, sizeof address.socket) == 0) return std::nullopt;
  if (errno != EINPROGRESS) return broken_off(Outcome::nobody_there, std::strerror(errno));
  short found = 0;
  switch (wait_for(POLLOUT, std::min(until, PlainClock::now() + options_.connect_timeout), found)) {
    case Wait::late:
      return late();
    case Wait::stopped:
      return broken_off(Outcome::stopped, "stopped");
    case Wait::ready:
      break;
  }
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return broken_off(Outcome::nobody_there, std::strerror(error));
  return std::nullopt;
}

std::string PlainTransfer::message_of(const PlainAddress& address,
                                      const HttpRequest& request) const {
  std::string message = fmt::format(
      "{} {}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: muster\r\nAuthorization: Bearer {}\r\n"
      "Accept: application/json\r\nContent-Type: application/json\r\n{}",
      request.body == nullptr ? "GET" : "POST", address.prefix, request.path, address.host,
      options_.token,
      options_.caller.empty() ? "" : fmt::format("Muster-Caller: {}\r\n", options_.caller));
  if (request.body == nullptr) return message + "\r\n";
  for (const std::string& line : repeat_headers(request)) message += line + "\r\n";
  return message + fmt::format("Content-Length: {}\r\n\r\n", request.body->size()) + *request.body;
}

/// Sends and reads at once: a server may answer, and close, before it has the whole body.
HttpReply PlainTransfer::exchange(const std::string& message, Moment until) {
  constexpr std::size_t kPiece = std::size_t{64} * 1024;
  std::string piece(kPiece, '\0');
  std::string_view unsent = message;
  ResponseReader reader(options_.max_answer_bytes);
  heard_ = false;
  while (!reader.complete() && !reader.broken()) {
    short found = 0;
    const auto events = static_cast<short>(unsent.empty() ? POLLIN : POLLIN | POLLOUT);
    const Wait wait = wait_for(events, until, found);
    if (wait == Wait::late) return late();
    if (wait == Wait::stopped) return broken_off(Outcome::stopped, "stopped");
    if ((found & POLLOUT) != 0) {
      const ssize_t sent = send(socket_.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL);
      if (sent > 0) unsent.remove_prefix(static_cast<std::size_t>(sent));
      // It reads no more; why, it may have said already.
      if (sent < 0 && errno != EAGAIN && errno != EINTR) unsent = {};
    }
    if ((found & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    const ssize_t got = recv(socket_.get(), piece.data(), piece.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got < 0) return broken_off(Outcome::lost, std::strerror(errno));
    heard_ |= got > 0;
    reader.feed(std::string_view(piece.data(), static_cast<std::size_t>(got)));
    if (got == 0 && !reader.complete() && !reader.broken()) {
      return broken_off(Outcome::lost, "the connection was closed without an answer");
    }
  }
  if (!reader.complete() || !reader.keeps_alive() || !unsent.empty()) socket_.reset();
  return std::move(reader.reply());
}

/// The connection is open since the last answer.
bool PlainTransfer::is_open() const {
  pollfd polled{socket_.get(), POLLIN, 0};
  return socket_ && poll(&polled, 1, 0) == 0;
}

HttpReply PlainTransfer::perform(const std::string& api, const HttpRequest& request,
                                 Duration limit) {
  const auto address = plain_address(api);
  if (!address) return broken_off(Outcome::failed, "the address is not one of this machine");
  const Moment until = PlainClock::now() + limit;
  const std::string message = message_of(*address, request);
  const bool kept = connected_ == api && is_open();
  if (!kept) {
    if (auto failure = connect_to(*address, until)) return *std::move(failure);
  }
  connected_ = api;
  HttpReply reply = exchange(message, until);
  // The server may close a connection that is kept just as the request is sent: another one tells.
  if (kept && reply.outcome == Outcome::lost && !heard_ && PlainClock::now() < until) {
    if (auto failure = connect_to(*address, until)) return *std::move(failure);
    connected_ = api;
    reply = exchange(message, until);
  }
  if (reply.outcome != Outcome::answered) socket_.reset();
  const auto wish = reply.headers.find("retry-after");
  if (wish != reply.headers.end()) {
    const std::uint64_t seconds = parse_whole(wish->second).value_or(0);
    reply.retry_after = std::chrono::seconds(std::min(seconds, kLongestRetryS));
  }
  return reply;
}

}  // namespace

bool takes_plain(const std::string& api) {
  return plain_address(api).has_value();
}

std::unique_ptr<Transfer> plain_transfer(TransferOptions options) {
  return std::make_unique<PlainTransfer>(std::move(options));
}

}  // namespace muster::client
