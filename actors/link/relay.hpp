#pragma once

#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/link/tls.hpp"
#include "model/expected.hpp"
#include "model/time.hpp"

namespace muster {

/// Event of a connection; all but the first two are refusals.
enum class RelayEvent : std::uint8_t {
  opened,                ///< certificate and name are good, the node's own port has answered
  closed,                ///< by either end
  too_many,              ///< connections in all
  too_many_handshaking,  ///< connections that have not shown a certificate yet
  too_many_of_address,
  tls_failed,         ///< no TLS, or no certificate of the node authority
  name_not_allowed,   ///< a certificate, but not of a node in the list
  handshake_timeout,  ///< the TLS handshake took too long
  own_port_failed,    ///< the port behind the relay did not answer
  header_timeout,     ///< no good header in time
  bad_header,
  stalled,  ///< one end did not take its bytes in time
  idle,
  accept_failed  ///< the process could not take a connection (descriptors)
};
inline constexpr std::size_t kRelayEvents = 14;

std::string to_string(RelayEvent event);

/// One event of one connection, for the log.
struct RelayReport {
  RelayEvent event{};
  std::string address;           ///< of the other end
  std::string name;              ///< from its certificate; empty before it was verified
  std::string detail;            ///< for a person
  std::uint64_t suppressed = 0;  ///< reports left out before this one, to bound the log
};

using RelayLog = std::function<void(const RelayReport&)>;

/// Where a relay stands, whom it lets in and its bounds.
struct RelayOptions {
  asio::ip::tcp::endpoint listen;    ///< public; port 0 takes any
  asio::ip::tcp::endpoint own_port;  ///< CAF's, on a loopback address
  TlsFiles tls;                      ///< the node's; `trusted` is the node authority
  /// Names of the nodes that may connect; empty: every node of the authority.
  std::vector<std::string> allowed;
  /// Development only: no TLS on either side. Listens on loopback addresses and nowhere else.
  bool plain = false;

  std::uint32_t max_payload_bytes = 4u << 20;     ///< of one message; 1 to 1 GiB
  std::size_t buffer_bytes = 64u << 10;           ///< a direction of a connection; 4 KiB to 16 MiB
  std::size_t max_connections = 256;              ///< 1 to 65,536
  std::size_t max_handshaking = 64;               ///< of these, without a certificate yet
  std::size_t max_per_address = 64;               ///< from one address (IPv6: one /64 network)
  std::size_t max_reports_per_s = 20;             ///< calls of the log; the counters see all
  Duration handshake_timeout = from_seconds(10);  ///< TLS with the other end and the own port
  Duration header_timeout = from_seconds(10);     ///< until the first good header
  /// Without a byte of progress from the connecting end; nodes send heartbeats. Zero: no limit.
  Duration idle_timeout = from_seconds(60);
  Duration stall_timeout = from_seconds(30);  ///< until an end has taken what is written to it
};

/// Counts of events since the start, but for `open`.
struct RelayCounters {
  std::uint64_t accepted = 0;  ///< TCP connections
  std::uint64_t open = 0;      ///< connections held now, in whatever phase
  std::array<std::uint64_t, kRelayEvents> events{};
  std::uint64_t bytes_in = 0;   ///< to the own port
  std::uint64_t bytes_out = 0;  ///< from it
  std::uint64_t headers_in = 0;

  std::uint64_t of(RelayEvent event) const { return events[static_cast<std::size_t>(event)]; }
};

/// Stands before CAF's port: lets in nodes of the cluster only and checks the header of every
/// message in both directions, so that malformed ones never reach CAF. Bytes that wait to be
/// written are bounded: an end is not read before the other has taken the bytes from before.
///
/// Runs on the thread of its io_context. Only counters() may be called from other threads.
class Relay {
 public:
  /// Listens, or says why not. `log` is called on the io_context's thread.
  static Expected<std::unique_ptr<Relay>, LinkError> start(asio::io_context& io,
                                                           const RelayOptions& options,
                                                           RelayLog log);
  ~Relay();  ///< as stop()
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::uint16_t port() const;
  RelayCounters counters() const;

  /// Reads the TLS files again, for connections to come. When they are not good the present ones
  /// stay in use.
  Expected<bool, LinkError> reload();

  /// Stops listening and closes every connection. The log is not called any more.
  void stop();

 private:
  class Core;
  explicit Relay(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;
};

}  // namespace muster
