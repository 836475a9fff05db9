#pragma once

#include <asio.hpp>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "actors/link/byte_stream.hpp"
#include "actors/link/relay.hpp"
#include "tests/actors/link/basp_bytes.hpp"
#include "tests/actors/link/cluster_pki.hpp"

namespace muster::test {

/// An io_context on a thread of its own.
class Background {
 public:
  Background() : work_(io_.get_executor()), thread_([this] { io_.run(); }) {}
  ~Background() {
    io_.stop();
    thread_.join();
  }
  asio::io_context& io() { return io_; }

  /// Runs on the thread, and waits for it.
  template <class Do>
  auto run(Do what) {
    std::packaged_task<decltype(what())()> task(std::move(what));
    auto done = task.get_future();
    asio::post(io_, [&task] { task(); });
    return done.get();
  }

 private:
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

/// Stands where CAF's port would be: speaks first, as CAF's accepting end does, judges every header
/// that comes, and answers each read with a heartbeat.
class DummyNode {
 public:
  DummyNode(asio::io_context& io, TlsContext context, std::uint32_t max_payload_bytes)
      : context_(std::move(context)),
        max_payload_bytes_(max_payload_bytes),
        acceptor_(io, {asio::ip::address_v4::loopback(), 0}) {
    asio::co_spawn(io, accept(), asio::detached);
  }

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t headers() const { return headers_; }
  /// Headers that would have harmed CAF.
  std::uint64_t bad_headers() const { return bad_headers_; }
  /// What it says first instead of a good handshake.
  void greet_with(std::string bytes) { greeting_ = std::move(bytes); }
  /// From now on it takes no bytes.
  void stop_reading() { reading_ = false; }

 private:
  asio::awaitable<void> accept() {
    for (;;) {
      auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
      asio::co_spawn(acceptor_.get_executor(), serve(make_stream(std::move(socket), context_)),
                     asio::detached);
    }
  }

  asio::awaitable<void> serve(std::unique_ptr<ByteStream> stream) {
    asio::error_code error;
    co_await stream->handshake(TlsSide::server, error);
    if (error) co_return;
    co_await stream->write(asio::buffer(greeting_), error);
    HarmMeter meter(max_payload_bytes_);
    std::vector<char> buffer(1 << 16);
    const std::string heartbeat = basp_message(BaspOperation::heartbeat, 0);
    while (!error && reading_) {
      const std::size_t got = co_await stream->read_some(asio::buffer(buffer), error);
      if (error) co_return;
      const std::uint64_t headers_before = meter.headers();
      const std::uint64_t harmful_before = meter.harmful();
      meter.take(buffer.data(), got);
      bytes_ += got;
      headers_ += meter.headers() - headers_before;
      bad_headers_ += meter.harmful() - harmful_before;
      co_await stream->write(asio::buffer(heartbeat), error);
    }
    if (error) co_return;
    asio::steady_timer forever(acceptor_.get_executor(), std::chrono::hours{1});
    co_await forever.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }

  TlsContext context_;
  std::uint32_t max_payload_bytes_;
  asio::ip::tcp::acceptor acceptor_;
  std::string greeting_ = basp_message(BaspOperation::server_handshake, 40);
  std::atomic<bool> reading_{true};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> headers_{0};
  std::atomic<std::uint64_t> bad_headers_{0};
};

/// A relay with a dummy node behind it, each on a thread of its own.
class RelayWorld {
 public:
  using Change = std::function<void(RelayOptions&)>;

  explicit RelayWorld(const Change& change = [](RelayOptions&) {}) {
    RelayOptions options;
    options.listen = {asio::ip::address_v4::loopback(), 0};
    options.tls = pki_.node("n0");
    change(options);
    const TlsContext context = options.plain ? nullptr : server_context(options.tls).value();
    node_ = std::make_unique<DummyNode>(node_thread_.io(), context, options.max_payload_bytes);
    options.own_port = {asio::ip::address_v4::loopback(), node_->port()};
    relay_ = relay_thread_.run([&] {
      auto started = Relay::start(relay_thread_.io(), options, [this](const RelayReport& report) {
        const std::lock_guard hold(mutex_);
        reports_.push_back(report);
      });
      MUSTER_CHECK(started.has_value(), "a test without a relay");
      return std::move(started).value();
    });
  }
  ~RelayWorld() {
    relay_thread_.run([this] { relay_.reset(); });
  }

  ClusterPki& pki() { return pki_; }
  DummyNode& node() { return *node_; }
  std::uint16_t port() const { return relay_->port(); }
  RelayCounters counters() const { return relay_->counters(); }
  std::vector<RelayReport> reports() const {
    const std::lock_guard hold(mutex_);
    return reports_;
  }
  template <class Do>
  auto with_relay(Do what) {
    return relay_thread_.run([&] { return what(*relay_); });
  }

  /// Waits up to 20 s for what is bound to come.
  static bool comes_true(const std::function<bool()>& condition) {
    for (int i = 0; i < 4000 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return condition();
  }
  bool counts(RelayEvent event, std::uint64_t times) const {
    return comes_true([&] { return counters().of(event) >= times; });
  }

 private:
  ClusterPki pki_;
  mutable std::mutex mutex_;
  std::vector<RelayReport> reports_;
  Background node_thread_;
  Background relay_thread_;
  std::unique_ptr<DummyNode> node_;
  std::unique_ptr<Relay> relay_;
};

}  // namespace muster::test
