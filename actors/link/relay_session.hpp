#pragma once

#include <array>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/link/basp_header.hpp"
#include "actors/link/byte_stream.hpp"
#include "actors/link/relay.hpp"

namespace muster {

/// Events that a connection reports to the relay that holds it.
class RelayWatcher {
 public:
  virtual ~RelayWatcher() = default;
  virtual bool is_allowed(const std::string& name) const = 0;
  virtual void on_verified() = 0;  ///< the certificate is good
  virtual void on_opened(const std::string& address, const std::string& name) = 0;
  virtual void on_bytes(BaspSender sender, std::size_t bytes, std::uint64_t headers) = 0;
  /// Once, and nothing after it.
  virtual void on_end(std::uint64_t id, const RelayReport& report, bool verified) = 0;
};

/// An accepted connection and what it needs.
struct RelayConnection {
  std::uint64_t id = 0;
  asio::ip::tcp::socket socket;
  std::string address;
  TlsContext server;  ///< both null: no TLS
  TlsContext client;
};

/// One connection through the relay. It keeps itself alive while it is under way.
class RelaySession : public std::enable_shared_from_this<RelaySession> {
 public:
  RelaySession(RelayConnection connection, const RelayOptions& options,
               std::shared_ptr<RelayWatcher> watcher);

  void start();
  void end(RelayEvent event, const std::string& detail);

 private:
  using Clock = std::chrono::steady_clock;
  enum Limit : std::size_t { kPhase, kToOwnPort, kToPeer, kLimits };
  struct Deadline {
    Clock::time_point at = Clock::time_point::max();
    RelayEvent event{};
    const char* detail = "";
  };
  struct Direction {
    ByteStream& from;
    ByteStream& to;
    BaspChecker checker;
    BaspSender sender;
    Limit limit;  ///< of the write
    std::vector<std::uint8_t> buffer;
    std::size_t held = 0;  ///< bytes in the buffer
  };

  asio::awaitable<void> run();
  asio::awaitable<bool> greet();
  asio::awaitable<bool> reach_own_port();
  asio::awaitable<void> pump(Direction direction);
  asio::awaitable<bool> forward(Direction& direction);
  asio::awaitable<void> watch();
  void set_limit(Limit which, Duration after, RelayEvent event, const char* detail);
  void clear_limit(Limit which);
  void on_progress(const Direction& direction);
  Direction make_direction(BaspSender sender);

  std::uint64_t id_;
  std::string address_;
  std::string name_;
  TlsContext client_context_;
  std::unique_ptr<ByteStream> peer_;
  std::unique_ptr<ByteStream> own_port_;
  const RelayOptions& options_;  ///< of the watcher, which outlives this
  std::shared_ptr<RelayWatcher> watcher_;
  asio::steady_timer alarm_;
  std::array<Deadline, kLimits> limits_;
  bool verified_ = false;
  bool ended_ = false;
};

}  // namespace muster
