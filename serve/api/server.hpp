#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "model/expected.hpp"
#include "serve/api/api.hpp"
#include "serve/api/request_reader.hpp"

namespace muster::api {

/// Where and how the API is served.
struct ServerOptions {
  std::string address = "127.0.0.1";  ///< an IP address of this machine
  std::uint16_t port = 0;             ///< 0: one that is free
  std::shared_ptr<TokenBook> tokens;  ///< tokens that open the API
  /// Log of requests; null: no log.
  std::shared_ptr<AuditLog> audit;
  /// The orders that are known again when they are repeated; null: those of this server's life.
  std::shared_ptr<RequestBook> requests;
  /// Machines that have joined; null: no machine can join here.
  std::shared_ptr<HostAdmin> joined;
  /// The store of users' files; null: this node has no such store. The server ends its threads.
  std::shared_ptr<FileStore> files;
  std::vector<std::string> hosts;  ///< names that it may be asked by, besides those it knows itself

  /// TLS 1.2 or newer, when both are set: PEM files.
  std::filesystem::path certificate;
  std::filesystem::path key;
  /// Tokens and output would cross the network in clear: without TLS an address that is not a
  /// loopback one is refused unless this is set.
  bool plain_beyond_loopback = false;

  RequestReader::Limits request;
  ApiLimits api;
  /// 1 to 10,000. A further one takes the place of one that waits for its client (to ask, or to
  /// take more of an answer), of the address that has the most of those; it is turned away with 429
  /// when the cluster is being asked for all.
  std::size_t max_connections = 256;
  unsigned threads = 2;  ///< 1 to 64

  std::chrono::milliseconds idle{60'000};    ///< between requests of a connection
  std::chrono::milliseconds read{30'000};    ///< for a request to come, from its first byte
  std::chrono::milliseconds handle{10'000};  ///< for the cluster to answer; then 503
  std::chrono::milliseconds write{30'000};   ///< for a response to go
  std::chrono::milliseconds linger{2'000};   ///< for a client to read the last response
};

/// The HTTP server, with threads of its own, from start() until stop() or its end.
class Server {
 public:
  /// Listens. The backend has to outlive the server. Fails when an option makes no sense, the port
  /// is taken, or a file of TLS is not right.
  static Expected<std::unique_ptr<Server>, ServerError> start(Backend& backend,
                                                              ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Where it listens: the port that was asked for, or the one that was free.
  std::uint16_t port() const;
  /// "http://127.0.0.1:8080"
  std::string url() const;

  /// Closes every connection and ends the threads; requests that wait get no answer. Returns as
  /// soon as no call to the backend is under way. Replies may still come later and are dropped.
  void stop();

 private:
  class Engine;
  explicit Server(std::shared_ptr<Engine> engine);
  std::shared_ptr<Engine> engine_;
};

}  // namespace muster::api
