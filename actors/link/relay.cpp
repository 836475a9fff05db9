#include "actors/link/relay.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "actors/link/relay_session.hpp"

namespace muster {
namespace {

using asio::ip::tcp;

// After a failed accept, as when descriptors run out: some connection has to end first.
constexpr auto kAcceptPause = std::chrono::milliseconds{100};
constexpr int kUserTimeoutMs = 30'000;

constexpr std::array<const char*, kRelayEvents> kEventNames{
    "opened",
    "closed",
    "too many connections",
    "too many connections without a certificate yet",
    "too many connections of one address",
    "TLS failed",
    "name not allowed",
    "handshake timeout",
    "own port failed",
    "header timeout",
    "bad header",
    "stalled",
    "idle",
    "accept failed"};

/// One address; of IPv6 the /64 network, because whoever has one address there has them all.
std::string origin_of(const asio::ip::address& address) {
  if (address.is_v4()) return address.to_string();
  const auto v6 = address.to_v6();
  if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string();
  auto bytes = v6.to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  return asio::ip::address_v6(bytes).to_string();
}

/// Finds a vanished machine in bounded time even when nothing is to be written to it.
void tune(tcp::socket& socket) {
  asio::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  socket.set_option(
      asio::detail::socket_option::integer<IPPROTO_TCP, TCP_USER_TIMEOUT>(kUserTimeoutMs), ignored);
  socket.set_option(asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>(15), ignored);
  socket.set_option(asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>(5), ignored);
  socket.set_option(asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPCNT>(3), ignored);
}

// A client that reached CAF's port would pass the relay by: the port must not be reachable from
// outside.
std::string check_addresses(const RelayOptions& options) {
  if (!options.own_port.address().is_loopback() || options.own_port.port() == 0) {
    return "the port behind the relay has to be on a loopback address";
  }
  if (options.plain && !options.listen.address().is_loopback()) {
    return "without TLS the relay listens on loopback addresses only, not on " +
           options.listen.address().to_string();
  }
  return {};
}

std::string check_bounds(const RelayOptions& options) {
  if (options.max_payload_bytes < 1 || options.max_payload_bytes > (1u << 30)) {
    return "max_payload_bytes has to be 1 to 1 GiB";
  }
  if (options.buffer_bytes < (4u << 10) || options.buffer_bytes > (16u << 20)) {
    return "buffer_bytes has to be 4 KiB to 16 MiB";
  }
  if (options.max_connections < 1 || options.max_connections > 65536) {
    return "max_connections has to be 1 to 65536";
  }
  if (options.max_handshaking < 1 || options.max_per_address < 1) {
    return "max_handshaking and max_per_address have to be at least 1";
  }
  const auto least =
      std::min({options.handshake_timeout, options.header_timeout, options.stall_timeout});
  return least > Duration::zero() ? "" : "the timeouts have to be positive";
}

struct Contexts {
  TlsContext server;
  TlsContext client;
};

Expected<Contexts, LinkError> read_contexts(const RelayOptions& options) {
  if (options.plain) return Contexts{};
  auto server = server_context(options.tls);
  if (!server) return server.error();
  auto client = client_context(options.tls);
  if (!client) return client.error();
  return Contexts{server.value(), client.value()};
}

}  // namespace

std::string to_string(RelayEvent event) {
  return kEventNames[static_cast<std::size_t>(event)];
}

class Relay::Core final : public RelayWatcher, public std::enable_shared_from_this<Relay::Core> {
 public:
  Core(asio::io_context& io, const RelayOptions& options, RelayLog log)
      : options_(options), log_(std::move(log)), acceptor_(io), pause_(io) {}

  Expected<bool, LinkError> load() {
    auto read = read_contexts(options_);
    if (!read) return read.error();
    contexts_ = std::move(read).value();
    return true;
  }

  Expected<bool, LinkError> listen() {
    asio::error_code error;
    acceptor_.open(options_.listen.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(options_.listen, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (!error) return true;
    return Failure<LinkError>{LinkError::cannot_listen,
                              "the relay cannot listen on " +
                                  options_.listen.address().to_string() + " port " +
                                  std::to_string(options_.listen.port()) + ": " + error.message()};
  }

  void start() {
    const auto keep = [self = shared_from_this()](const std::exception_ptr&) {};
    asio::co_spawn(acceptor_.get_executor(), accept(), keep);
  }

  void stop() {
    // First, so that the ends of the sessions below are not reported to a log that may be gone.
    stopped_ = true;
    log_ = nullptr;
    asio::error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    // Moved out: each end() comes back to on_end(), which erases from sessions_.
    auto sessions = std::move(sessions_);
    sessions_.clear();
    for (auto& [id, held] : sessions) held.session->end(RelayEvent::closed, "the relay stops");
  }

  std::uint16_t port() const { return port_; }

  RelayCounters counters() const {
    RelayCounters now;
    now.accepted = accepted_;
    now.open = open_;
    for (std::size_t i = 0; i < kRelayEvents; ++i) now.events[i] = events_[i];
    now.bytes_in = bytes_in_;
    now.bytes_out = bytes_out_;
    now.headers_in = headers_in_;
    return now;
  }

  bool is_allowed(const std::string& name) const override {
    if (name.empty()) return false;
    return options_.allowed.empty() || std::ranges::count(options_.allowed, name) > 0;
  }

  // From here on the connection does not count against max_handshaking, which strangers can fill.
  void on_verified() override { --handshaking_; }

  void on_opened(const std::string& address, const std::string& name) override {
    report({RelayEvent::opened, address, name, "", 0});
  }

  void on_bytes(BaspSender sender, std::size_t bytes, std::uint64_t headers) override {
    (sender == BaspSender::connecting ? bytes_in_ : bytes_out_) += bytes;
    if (sender == BaspSender::connecting) headers_in_ += headers;
  }

  void on_end(std::uint64_t id, const RelayReport& how, bool verified) override {
    if (!verified) --handshaking_;
    --open_;
    const auto held = sessions_.find(id);
    if (held != sessions_.end()) {
      if (--by_origin_[held->second.origin] == 0) by_origin_.erase(held->second.origin);
      sessions_.erase(held);
    }
    report(how);
  }

 private:
  struct Held {
    std::shared_ptr<RelaySession> session;
    std::string origin;
  };

  asio::awaitable<void> accept() {
    while (!stopped_) {
      asio::error_code error;
      tcp::endpoint from;
      tcp::socket socket =
          co_await acceptor_.async_accept(from, asio::redirect_error(asio::use_awaitable, error));
      // stop() may have come while the accept was under way.
      if (stopped_) co_return;
      if (!error) {
        admit(std::move(socket), from);
        continue;
      }
      // Without the pause a process that is out of descriptors would spin here.
      report({RelayEvent::accept_failed, "", "", error.message(), 0});
      pause_.expires_after(kAcceptPause);
      co_await pause_.async_wait(asio::redirect_error(asio::use_awaitable, error));
    }
  }

  void admit(tcp::socket socket, const tcp::endpoint& from) {
    ++accepted_;
    const std::string origin = origin_of(from.address());
    const std::string address = from.address().to_string() + ":" + std::to_string(from.port());
    const auto same = by_origin_.find(origin);
    std::optional<RelayEvent> refused;
    // All bounds before TLS: refusing a connection costs no handshake.
    if (sessions_.size() >= options_.max_connections) {
      refused = RelayEvent::too_many;
    } else if (handshaking_ >= options_.max_handshaking) {
      refused = RelayEvent::too_many_handshaking;
    } else if (same != by_origin_.end() && same->second >= options_.max_per_address) {
      refused = RelayEvent::too_many_of_address;
    }
    if (refused) return report({*refused, address, "", "", 0});
    tune(socket);
    const std::uint64_t id = next_id_++;
    auto session = std::make_shared<RelaySession>(
        RelayConnection{id, std::move(socket), address, contexts_.server, contexts_.client},
        options_, shared_from_this());
    ++by_origin_[origin];
    ++handshaking_;
    ++open_;
    sessions_.emplace(id, Held{session, origin});
    session->start();
  }

  void report(RelayReport what) {
    ++events_[static_cast<std::size_t>(what.event)];
    if (!log_) return;
    const auto now = std::chrono::steady_clock::now();
    // A bounded number of reports a second: a flood of connections must not become a flood of logs.
    // Those left out are counted and told with the next one.
    if (now - window_start_ >= std::chrono::seconds{1}) {
      window_start_ = now;
      reports_in_window_ = 0;
    }
    if (reports_in_window_ >= options_.max_reports_per_s) {
      ++suppressed_;
      return;
    }
    ++reports_in_window_;
    what.suppressed = std::exchange(suppressed_, 0);
    log_(what);
  }

  const RelayOptions options_;
  RelayLog log_;
  Contexts contexts_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::uint16_t port_ = 0;
  bool stopped_ = false;
  std::uint64_t next_id_ = 1;
  std::size_t handshaking_ = 0;
  std::unordered_map<std::uint64_t, Held> sessions_;
  std::map<std::string, std::size_t> by_origin_;
  std::chrono::steady_clock::time_point window_start_{};
  std::size_t reports_in_window_ = 0;
  std::uint64_t suppressed_ = 0;
  // Read by counters() from any thread; all else belongs to the io_context's thread.
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> open_{0};
  std::array<std::atomic<std::uint64_t>, kRelayEvents> events_{};
  std::atomic<std::uint64_t> bytes_in_{0};
  std::atomic<std::uint64_t> bytes_out_{0};
  std::atomic<std::uint64_t> headers_in_{0};
};

Relay::Relay(std::shared_ptr<Core> core) : core_(std::move(core)) {}
Relay::~Relay() {
  stop();
}

Expected<std::unique_ptr<Relay>, LinkError> Relay::start(asio::io_context& io,
                                                         const RelayOptions& options,
                                                         RelayLog log) {
  for (const std::string& wrong : {check_addresses(options), check_bounds(options)}) {
    if (!wrong.empty()) return Failure<LinkError>{LinkError::cannot_listen, wrong};
  }
  auto core = std::make_shared<Core>(io, options, std::move(log));
  // Certificates before the port: a node that could not let anybody in does not listen.
  if (auto loaded = core->load(); !loaded) return loaded.error();
  if (auto listening = core->listen(); !listening) return listening.error();
  core->start();
  return std::unique_ptr<Relay>(new Relay(std::move(core)));
}

std::uint16_t Relay::port() const {
  return core_->port();
}
RelayCounters Relay::counters() const {
  return core_->counters();
}
Expected<bool, LinkError> Relay::reload() {
  return core_->load();
}
void Relay::stop() {
  core_->stop();
}

}  // namespace muster
