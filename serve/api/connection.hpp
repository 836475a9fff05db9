#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl/context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "serve/api/server.hpp"

namespace muster::api {

/// A client's connection: one request after the other. It keeps itself alive while anything is
/// under way.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual void start() = 0;
  /// Ends it soon; from any thread.
  virtual void close() = 0;
  /// Since when it has waited for its client, to ask something or to take more of an answer;
  /// nothing while the cluster is asked. From any thread.
  virtual std::optional<std::chrono::steady_clock::time_point> waiting_since() const = 0;
};

/// Parts of the server that a connection needs.
struct Surroundings {
  std::shared_ptr<asio::io_context> context;  ///< late replies may be the last to hold it
  std::shared_ptr<Api> api;
  const ServerOptions* options = nullptr;  ///< lives as long as the context runs
  std::string from{};                      ///< the client's address
};

/// `gone` is called when the connection is no more. The socket's executor is a strand of its own.
std::shared_ptr<Connection> make_connection(asio::ip::tcp::socket socket,
                                            const Surroundings& around, std::function<void()> gone);
std::shared_ptr<Connection> make_tls_connection(asio::ip::tcp::socket socket,
                                                std::shared_ptr<asio::ssl::context> tls,
                                                const Surroundings& around,
                                                std::function<void()> gone);

/// A response's first lines, up to the empty one.
std::string head_of(const Response& response, bool keep_alive);

}  // namespace muster::api
