#include "actors/link/relay_session.hpp"

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/ssl/error.hpp>
#include <asio/use_awaitable.hpp>
#include <cstring>
#include <utility>

// A coroutine for each direction and one that watches the deadlines. Any of them may end the
// session, so that ended_ is tested after every wait. A direction reads on only when all it has
// read is written: its buffer is the bound of what is held.

namespace muster {
namespace {

using asio::redirect_error;
using asio::use_awaitable;

/// TLS without a farewell is an ordinary end here: the protocol above knows where its messages end.
std::string end_text(const asio::error_code& error) {
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) return "closed";
  return error.message();
}

}  // namespace

RelaySession::RelaySession(RelayConnection connection, const RelayOptions& options,
                           std::shared_ptr<RelayWatcher> watcher)
    : id_(connection.id),
      address_(std::move(connection.address)),
      client_context_(std::move(connection.client)),
      peer_(make_stream(std::move(connection.socket), connection.server)),
      own_port_(
          make_stream(asio::ip::tcp::socket(peer_->socket().get_executor()), client_context_)),
      options_(options),
      watcher_(std::move(watcher)),
      alarm_(peer_->socket().get_executor()) {}

void RelaySession::start() {
  // The first deadline is there before watch() looks for one.
  const auto executor = peer_->socket().get_executor();
  set_limit(kPhase, options_.handshake_timeout, RelayEvent::handshake_timeout,
            "no TLS handshake in time");
  const auto keep = [self = shared_from_this()](const std::exception_ptr&) {};
  asio::co_spawn(executor, watch(), keep);
  asio::co_spawn(executor, run(), keep);
}

void RelaySession::end(RelayEvent event, const std::string& detail) {
  if (ended_) return;
  ended_ = true;
  alarm_.cancel();
  peer_->close();
  own_port_->close();
  watcher_->on_end(id_, {event, address_, name_, detail, 0}, verified_);
}

asio::awaitable<void> RelaySession::run() {
  const bool greeted = co_await greet();
  if (!greeted) co_return;
  const bool reached = co_await reach_own_port();
  if (!reached) co_return;
  set_limit(kPhase, options_.header_timeout, RelayEvent::header_timeout, "no good header in time");
  watcher_->on_opened(address_, name_);
  const auto keep = [self = shared_from_this()](const std::exception_ptr&) {};
  asio::co_spawn(alarm_.get_executor(), pump(make_direction(BaspSender::accepting)), keep);
  co_await pump(make_direction(BaspSender::connecting));
}

asio::awaitable<bool> RelaySession::greet() {
  asio::error_code error;
  co_await peer_->handshake(TlsSide::server, error);
  if (ended_) co_return false;
  if (error) {
    end(RelayEvent::tls_failed, error.message());
    co_return false;
  }
  name_ = peer_->peer();
  // The name decides, not only the authority: a node may be taken out of the list.
  if (!options_.plain && !watcher_->is_allowed(name_)) {
    end(RelayEvent::name_not_allowed, "'" + name_ + "' is not a node that may connect");
    co_return false;
  }
  verified_ = true;
  watcher_->on_verified();
  co_return true;
}

asio::awaitable<bool> RelaySession::reach_own_port() {
  set_limit(kPhase, options_.handshake_timeout, RelayEvent::own_port_failed,
            "the node's own port did not answer in time");
  asio::error_code error;
  co_await own_port_->socket().async_connect(options_.own_port,
                                             redirect_error(use_awaitable, error));
  if (!error && !ended_) {
    asio::error_code ignored;
    // Small messages are not to wait for others to be sent with them.
    own_port_->socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    co_await own_port_->handshake(TlsSide::client, error);
  }
  if (ended_) co_return false;
  if (!error) co_return true;
  end(RelayEvent::own_port_failed, "the node's own port: " + error.message());
  co_return false;
}

asio::awaitable<void> RelaySession::pump(Direction direction) {
  while (!ended_) {
    asio::error_code error;
    auto& buffer = direction.buffer;
    // Never empty: a header is smaller than the buffer, and more than that never stays.
    const asio::mutable_buffer room(buffer.data() + direction.held, buffer.size() - direction.held);
    const std::size_t got = co_await direction.from.read_some(room, error);
    if (ended_) co_return;
    if (error) {
      const bool own = direction.sender == BaspSender::accepting;
      end(RelayEvent::closed, (own ? "own port: " : "peer: ") + end_text(error));
      co_return;
    }
    direction.held += got;
    const bool going_on = co_await forward(direction);
    if (!going_on) co_return;
  }
}

asio::awaitable<bool> RelaySession::forward(Direction& direction) {
  const std::uint64_t headers_before = direction.checker.headers();
  const auto step = direction.checker.look(std::span(direction.buffer).first(direction.held));
  if (step.pass > 0) {
    asio::error_code error;
    // Only while a write is under way: a direction with nothing to send does not stall.
    set_limit(direction.limit, options_.stall_timeout, RelayEvent::stalled,
              direction.sender == BaspSender::accepting ? "the peer takes no bytes"
                                                        : "the node takes no bytes");
    co_await direction.to.write(asio::const_buffer(direction.buffer.data(), step.pass), error);
    if (ended_) co_return false;
    clear_limit(direction.limit);
    if (error) {
      end(RelayEvent::closed, "while writing: " + end_text(error));
      co_return false;
    }
    direction.held -= step.pass;
    // Less than a header stays: passed bytes are gone, and payload always passes.
    std::memmove(direction.buffer.data(), direction.buffer.data() + step.pass, direction.held);
    watcher_->on_bytes(direction.sender, step.pass, direction.checker.headers() - headers_before);
    on_progress(direction);
  }
  if (step.fault == HeaderFault::none) co_return true;
  const bool own = direction.sender == BaspSender::accepting;
  end(RelayEvent::bad_header, to_string(step.fault) + " in header " +
                                  std::to_string(direction.checker.headers() + 1) +
                                  (own ? " of the own port" : " of the peer"));
  co_return false;
}

/// Only whole headers and payload count as progress, and only those of the end that is not trusted.
void RelaySession::on_progress(const Direction& direction) {
  if (direction.sender != BaspSender::connecting) return;
  if (options_.idle_timeout <= Duration::zero()) return clear_limit(kPhase);
  set_limit(kPhase, options_.idle_timeout, RelayEvent::idle, "nothing came in time");
}

asio::awaitable<void> RelaySession::watch() {
  while (!ended_) {
    const auto next = std::ranges::min(limits_, {}, &Deadline::at);
    if (next.at <= Clock::now()) {
      end(next.event, next.detail);
      co_return;
    }
    alarm_.expires_at(next.at);
    asio::error_code woken;
    co_await alarm_.async_wait(redirect_error(use_awaitable, woken));
  }
}

/// Cancels the alarm only for a nearer deadline; one that has moved away is noticed when the alarm
/// rings, so that progress costs no timer operation.
void RelaySession::set_limit(Limit which, Duration after, RelayEvent event, const char* detail) {
  const auto at = Clock::now() + std::chrono::duration_cast<Clock::duration>(after);
  limits_[which] = {at, event, detail};
  if (at < alarm_.expiry()) alarm_.cancel();
}

void RelaySession::clear_limit(Limit which) {
  limits_[which] = {};
}

RelaySession::Direction RelaySession::make_direction(BaspSender sender) {
  const bool accepting = sender == BaspSender::accepting;
  return {accepting ? *own_port_ : *peer_,
          accepting ? *peer_ : *own_port_,
          BaspChecker(sender, options_.max_payload_bytes),
          sender,
          accepting ? kToPeer : kToOwnPort,
          std::vector<std::uint8_t>(options_.buffer_bytes),
          0};
}

}  // namespace muster
