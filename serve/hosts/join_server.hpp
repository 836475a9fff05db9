#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "actors/link/tls.hpp"
#include "model/expected.hpp"
#include "serve/hosts/join_desk.hpp"

namespace muster::hosts {

/// Where machines join, and the bounds of what they may send.
struct JoinServerSetup {
  std::string address;
  std::uint16_t port = 0;       ///< 0: one that is free
  TlsFiles tls;                 ///< `trusted`: the authority of workers
  std::filesystem::path chain;  ///< the nodes' authority, which machines know by its SHA-256
  std::shared_ptr<JoinDesk> desk;
  /// Connections without a certificate at once; when all places are taken the oldest one is closed.
  std::size_t strangers = 64;
  std::size_t strangers_of_address = 8;       ///< a further one is closed
  std::size_t machines = 2 * kMaxHosts;       ///< connections with a certificate
  std::size_t of_key = 2;                     ///< of these; for a further one the oldest is closed
  std::chrono::milliseconds request{10'000};  ///< for the handshake and for each request
  std::chrono::milliseconds idle{120'000};    ///< between the requests of a machine
};

/// The join port: HTTPS whose clients need no certificate to join, and one of the worker authority
/// for the rest. A thread of its own answers, one request after the other, and looks each second
/// for leases that have ended.
class JoinServer {
 public:
  static Expected<std::unique_ptr<JoinServer>, LinkError> start(JoinServerSetup setup);
  ~JoinServer();
  JoinServer(const JoinServer&) = delete;
  JoinServer& operator=(const JoinServer&) = delete;

  std::uint16_t port() const;

 private:
  class Engine;
  explicit JoinServer(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace muster::hosts
