// The API's listener. It accepts on one strand, bounds the connections, and runs the threads that
// all handlers share. When it is full, a connection that only waits for its client makes room.

#include "serve/api/server.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/ssl/context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/write.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "serve/api/connection.hpp"
#include "serve/api/private_file.hpp"

namespace muster::api {
namespace {

using Tcp = asio::ip::tcp;
using ServerFailure = Failure<ServerError>;
using TlsContext = std::shared_ptr<asio::ssl::context>;

/// Bounds of the options. Each connection costs a descriptor and its buffers.
constexpr std::size_t kMaxConnections = 10'000;
constexpr unsigned kMaxThreads = 64;
constexpr std::size_t kMaxKeyBytes = std::size_t{1} << 20;
/// How long it waits when the system cannot give it another connection.
constexpr std::chrono::milliseconds kAcceptPause{100};

/// The fault of the options; empty: no fault.
std::string fault_of(const ServerOptions& options) {
  std::error_code error;
  const asio::ip::address address = asio::ip::make_address(options.address, error);
  if (error) {
    return fmt::format("address: '{}' is not an IP address like 127.0.0.1", options.address);
  }
  if (!options.tokens) {
    return "tokens: there have to be some";
  }
  if (options.certificate.empty() != options.key.empty()) {
    return "certificate, key: TLS needs both of them";
  }
  // A token in clear can be read on the way and used by anybody.
  if (!address.is_loopback() && options.certificate.empty() && !options.plain_beyond_loopback) {
    return fmt::format(
        "address: {} is no loopback address, and without TLS tokens would cross the "
        "network in clear; set a certificate and a key",
        options.address);
  }
  if (options.max_connections < 1 || options.max_connections > kMaxConnections) {
    return fmt::format("max_connections: has to be from 1 to {}", kMaxConnections);
  }
  if (options.threads < 1 || options.threads > kMaxThreads) {
    return fmt::format("threads: has to be from 1 to {}", kMaxThreads);
  }
  return {};
}

/// Nothing inside when TLS is not wanted.
Expected<TlsContext, ServerError> tls_of(const ServerOptions& options) {
  if (options.certificate.empty()) {
    return TlsContext();
  }
  const auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                       asio::ssl::context::no_tlsv1_1);
  std::error_code error;
  context->use_certificate_chain_file(options.certificate.string(), error);
  if (error) {
    return ServerFailure{ServerError::bad_certificate,
                         fmt::format("{}: is no PEM file with a certificate: {}",
                                     options.certificate.string(), error.message())};
  }
  auto key = read_private(options.key, kMaxKeyBytes);
  if (!key) return ServerFailure{ServerError::bad_certificate, key.error().message};
  context->use_private_key(asio::buffer(key.value()), asio::ssl::context::pem, error);
  OPENSSL_cleanse(key.value().data(), key.value().size());
  if (error) {
    return ServerFailure{
        ServerError::bad_certificate,
        fmt::format("{}: is no PEM file with the key of {}: {}", options.key.string(),
                    options.certificate.string(), error.message())};
  }
  return context;
}

/// Written once for all: to turn a client away costs one write that does not block.
std::string refusal_text() {
  const Response response = error_response(429, "too many connections are open");
  return head_of(response, false) + response.body;
}

}  // namespace

/// State that the threads share. It outlives the server as long as a handler of theirs runs.
class Server::Engine : public std::enable_shared_from_this<Server::Engine> {
 public:
  Engine(Backend& backend, ServerOptions options, TlsContext tls)
      : options_(std::move(options)),
        tls_(std::move(tls)),
        api_(std::make_shared<Api>(
            backend, Gate(options_.tokens, HostNames(options_.address, options_.hosts)), parts())),
        acceptor_(asio::make_strand(*context_)),
        pause_(acceptor_.get_executor()),
        refusal_(refusal_text()) {}

  std::optional<std::string> listen() {
    const Tcp::endpoint wanted(asio::ip::make_address(options_.address), options_.port);
    std::error_code error;
    acceptor_.open(wanted.protocol(), error);
    // A restart finds connections of the process before in TIME_WAIT on the same port.
    if (!error) {
      acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
    }
    if (!error) {
      acceptor_.bind(wanted, error);
    }
    if (!error) {
      acceptor_.listen(asio::socket_base::max_listen_connections, error);
    }
    if (error) {
      return fmt::format("cannot listen on {} port {}: {}", options_.address, options_.port,
                         error.message());
    }
    // With port 0 the system has chosen one: it is known only after bind().
    port_ = acceptor_.local_endpoint(error).port();
    return std::nullopt;
  }

  void run() {
    asio::post(acceptor_.get_executor(), [self = shared_from_this()] { self->accept(); });
    for (unsigned i = 0; i < options_.threads; ++i) {
      threads_.emplace_back([context = context_] { context->run(); });
    }
  }

  void stop() {
    asio::post(acceptor_.get_executor(), [self = shared_from_this()] {
      std::error_code ignored;
      self->stopping_ = true;
      self->pause_.cancel();
      // On the strand of accept(): no new connection can be taken after close_all() has begun.
      self->acceptor_.close(ignored);
      self->close_all();
    });
    // Without the guard the threads' run() returns when no handler is left; close_all() ends those
    // that wait.
    guard_.reset();
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
    // Answers under way are completed; waiting ones are dropped, as are other requests.
    tokens_desk_->stop();
    orders_desk_->stop();
    if (options_.files) options_.files->stop();
  }

  bool running() const { return !threads_.empty(); }
  std::uint16_t port() const { return port_; }
  std::string url() const {
    const bool v6 = options_.address.find(':') != std::string::npos;
    return fmt::format("{}://{}{}{}:{}", tls_ ? "https" : "http", v6 ? "[" : "", options_.address,
                       v6 ? "]" : "", port_);
  }

 private:
  using Connections = std::vector<std::shared_ptr<Connection>>;
  struct Open {
    std::weak_ptr<Connection> connection;
    asio::ip::address from;
  };

  ApiParts parts() const {
    ApiParts parts{options_.audit, options_.requests, options_.api,  tokens_desk_,
                   orders_desk_,   options_.joined,   options_.files};
    if (!parts.requests) parts.requests = std::make_shared<RequestBook>("", RequestBook::Note{});
    return parts;
  }

  void accept() {
    acceptor_.async_accept(asio::make_strand(*context_),
                           [self = shared_from_this()](std::error_code error, Tcp::socket socket) {
                             if (self->stopping_) {
                               return;
                             }
                             if (error) {
                               // Out of descriptors, most likely: others will be closed.
                               return self->accept_later();
                             }
                             self->take(std::move(socket));
                             self->accept();
                           });
  }

  void accept_later() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([self = shared_from_this()](std::error_code) {
      if (!self->stopping_) {
        self->accept();
      }
    });
  }

  // Sets members of the entry in two steps, as the connection's end names it by its number.
  void take(Tcp::socket socket) {
    std::error_code ignored;
    const std::uint64_t number = ++last_connection_;
    const asio::ip::address from = socket.remote_endpoint(ignored).address();
    if (!remember(number, from)) {
      api_->traffic()->connection_refused();
      // A client that does not read must not hold up the next ones.
      socket.non_blocking(true, ignored);
      // Before a TLS handshake plain text would only look like a broken server: the socket is
      // closed.
      if (!tls_) {
        socket.write_some(asio::buffer(refusal_), ignored);
      }
      return;
    }
    socket.set_option(Tcp::no_delay(true), ignored);
    const Surroundings around{context_, api_, &options_, from.to_string()};
    // Weak: a connection may outlive the engine and must not keep it.
    const auto gone = [weak = weak_from_this(), number] {
      if (const auto self = weak.lock()) {
        self->forget(number);
      }
    };
    const std::shared_ptr<Connection> connection =
        tls_ ? make_tls_connection(std::move(socket), tls_, around, gone)
             : make_connection(std::move(socket), around, gone);
    {
      const std::lock_guard lock(mutex_);
      // The entry is still there: make_room() passes over entries that have no connection yet.
      connections_.at(number).connection = connection;
    }
    connection->start();
  }

  bool remember(std::uint64_t number, const asio::ip::address& from) {
    Connections held;  // let go of after the lock, which a connection's end asks for
    const std::lock_guard lock(mutex_);
    if (connections_.size() >= options_.max_connections && !make_room(held)) {
      return false;
    }
    connections_[number].from = from;
    api_->traffic()->connection_opened();
    return true;
  }

  /// Closes the connection that has waited longest for its client, of the address that has the most
  /// which wait, so that no address keeps others out. False when no connection waits.
  bool make_room(Connections& held) {
    struct Share {
      std::size_t count = 0;
      std::uint64_t number = 0;
      std::chrono::steady_clock::time_point since = std::chrono::steady_clock::time_point::max();
      Connection* connection = nullptr;
    };
    // O(connections), and only when all places are taken.
    std::map<asio::ip::address, Share> shares;
    for (const auto& [number, open] : connections_) {
      held.push_back(open.connection.lock());
      const auto since = held.back() ? held.back()->waiting_since() : std::nullopt;
      // Connections whose request is being answered are passed over: closing them would lose work.
      if (!since) {
        continue;
      }
      Share& share = shares[open.from];
      ++share.count;
      if (*since < share.since) {
        share = {share.count, number, *since, held.back().get()};
      }
    }
    const auto largest = std::max_element(
        shares.begin(), shares.end(),
        [](const auto& one, const auto& other) { return one.second.count < other.second.count; });
    if (largest == shares.end()) {
      return false;
    }
    connections_.erase(largest->second.number);
    api_->traffic()->connection_closed();
    largest->second.connection->close();
    return true;
  }

  void forget(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    if (connections_.erase(number) > 0) {
      api_->traffic()->connection_closed();
    }
  }

  void close_all() {
    // Closed after the lock: a connection's end calls forget(), which takes it.
    std::vector<std::shared_ptr<Connection>> open;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [number, one] : connections_) {
        open.push_back(one.connection.lock());
      }
    }
    for (const std::shared_ptr<Connection>& connection : open) {
      if (connection) {
        connection->close();
      }
    }
  }

  // Shared with late replies, which post to it when it runs no more.
  std::shared_ptr<asio::io_context> context_ = std::make_shared<asio::io_context>();
  asio::executor_work_guard<asio::io_context::executor_type> guard_ =
      asio::make_work_guard(*context_);
  ServerOptions options_;
  TlsContext tls_;
  // Shared with late replies, as the context is.
  std::shared_ptr<Desk> tokens_desk_ = std::make_shared<Desk>();
  std::shared_ptr<Desk> orders_desk_ = std::make_shared<Desk>();
  std::shared_ptr<Api> api_;
  Tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::string refusal_;
  bool stopping_ = false;  ///< on the acceptor's strand
  std::uint16_t port_ = 0;
  std::uint64_t last_connection_ = 0;
  std::mutex mutex_;
  std::map<std::uint64_t, Open> connections_;
  std::vector<std::thread> threads_;
};

Server::Server(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

Expected<std::unique_ptr<Server>, ServerError> Server::start(Backend& backend,
                                                             ServerOptions options) {
  if (std::string fault = fault_of(options); !fault.empty()) {
    return ServerFailure{ServerError::bad_option, std::move(fault)};
  }
  Expected<TlsContext, ServerError> tls = tls_of(options);
  if (!tls) {
    return tls.error();
  }
  auto engine = std::make_shared<Engine>(backend, std::move(options), std::move(tls).value());
  if (std::optional<std::string> fault = engine->listen()) {
    return ServerFailure{ServerError::cannot_listen, std::move(*fault)};
  }
  engine->run();
  return std::unique_ptr<Server>(new Server(std::move(engine)));
}

Server::~Server() {
  stop();
}

std::uint16_t Server::port() const {
  return engine_->port();
}

std::string Server::url() const {
  return engine_->url();
}

void Server::stop() {
  if (engine_->running()) {
    engine_->stop();
  }
}

}  // namespace muster::api
