// The join port's listener, sessions and clock, all on one thread. A session reads a request, has
// the desk answer it, writes the answer, and, for a machine with a certificate, waits for the next.

#include "serve/hosts/join_server.hpp"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <map>
#include <thread>

#include "actors/link/join_pki.hpp"
#include "actors/link/openssl_handles.hpp"
#include "serve/api/request_reader.hpp"
#include "serve/hosts/join_places.hpp"

namespace muster::hosts {
namespace {

using Tcp = asio::ip::tcp;

constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr std::chrono::seconds kSweep{1};

/// A client need not show a certificate; one that it shows has to be of the worker authority.
Expected<TlsContext, LinkError> context_of(const JoinServerSetup& setup) {
  auto context = server_context(setup.tls);
  if (!context) return context.error();
  SSL_CTX* native = context.value()->native_handle();
  SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
  const auto chain = ssl::read_certificates(setup.chain);
  if (!chain) return chain.error();
  if (SSL_CTX_add1_chain_cert(native, chain->front().get()) != 1) {
    return Failure<LinkError>{LinkError::bad_material,
                              setup.chain.string() + ": " + ssl::last_error()};
  }
  return context;
}

std::string head_of(const api::Response& response, bool keep) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: "
      "{}\r\n\r\n",
      response.status, api::reason_phrase(response.status), response.body.size(),
      keep ? "keep-alive" : "close");
}

/// Whose an address is: of IPv6 one holder has a network of /64.
std::string network_of(const std::string& address) {
  std::error_code bad;
  const auto read = asio::ip::make_address(address, bad);
  if (bad || !read.is_v6() || read.to_v6().is_v4_mapped()) return address;
  auto bytes = read.to_v6().to_bytes();
  std::fill(bytes.begin() + bytes.size() / 2, bytes.end(), std::uint8_t{0});
  return asio::ip::address_v6(bytes).to_string();
}

std::string shown_key(SSL* connection) {
  if (SSL_get_verify_result(connection) != X509_V_OK) return {};
  const ssl::Certificate shown(SSL_get1_peer_certificate(connection));
  return shown ? key_print_of(shown.get()) : std::string{};
}

}  // namespace

class JoinServer::Engine {
 public:
  Engine(JoinServerSetup setup, TlsContext tls) : setup_(std::move(setup)), tls_(std::move(tls)) {}

  std::optional<std::string> listen() {
    std::error_code error;
    const Tcp::endpoint wanted(asio::ip::make_address(setup_.address, error), setup_.port);
    if (!error) acceptor_.open(wanted.protocol(), error);
    if (!error) acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(wanted, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return fmt::format("cannot listen on {} port {}: {}", setup_.address, setup_.port,
                         error.message());
    }
    port_ = acceptor_.local_endpoint(error).port();
    return std::nullopt;
  }
  void run() {
    asio::post(context_, [this] {
      accept();
      sweep();
    });
    thread_ = std::thread([this] { context_.run(); });
  }
  void stop() {
    // Handlers that are left are destroyed with the context, and sessions with them.
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }
  std::uint16_t port() const { return port_; }

 private:
  class Session;

  void accept() {
    acceptor_.async_accept([this](std::error_code error, Tcp::socket socket) {
      if (!error) {
        take(std::move(socket));
        return accept();
      }
      // Out of descriptors, most likely: others will be closed.
      pause_.expires_after(kAcceptPause);
      pause_.async_wait([this](std::error_code) { accept(); });
    });
  }
  void take(Tcp::socket socket);
  /// Makes room for one more connection with that key; false: there is no room.
  bool admit(std::uint64_t connection, const std::string& key);
  void drop(std::uint64_t connection);
  void sweep() {
    setup_.desk->book().sweep();
    sweep_.expires_after(kSweep);
    sweep_.async_wait([this](std::error_code) { sweep(); });
  }

  JoinServerSetup setup_;
  TlsContext tls_;
  std::uint16_t port_ = 0;
  std::uint64_t taken_ = 0;  ///< connections so far
  // Before the context: sessions end with it, and leave their places.
  JoinPlaces strangers_;  ///< by address
  JoinPlaces machines_;   ///< by key
  std::map<std::uint64_t, Session*> sessions_;
  asio::io_context context_;
  Tcp::acceptor acceptor_{context_};
  asio::steady_timer pause_{context_};
  asio::steady_timer sweep_{context_};
  std::thread thread_;
};

class JoinServer::Engine::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Engine& engine, Tcp::socket socket, std::string address)
      : engine_(engine),
        number_(++engine.taken_),
        stream_(std::move(socket), *engine.tls_),
        timer_(engine.context_),
        reader_({.max_target = 64, .max_header = kMaxHead, .max_body = kMaxBody}) {
    peer_.address = std::move(address);
    engine_.strangers_.enter(number_, network_of(peer_.address));
    engine_.sessions_[number_] = this;
  }
  ~Session() { leave(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() {
    wait_at_most(engine_.setup_.request);
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = shared_from_this()](std::error_code error) {
                              if (error) return self->close();
                              self->on_handshake();
                            });
  }

  /// Its place is free at once.
  void close() {
    std::error_code ignored;
    leave();
    timer_.cancel();
    stream_.lowest_layer().close(ignored);
  }

 private:
  void on_handshake() {
    const std::string key = shown_key(stream_.native_handle());
    if (!key.empty()) {
      if (!engine_.admit(number_, key)) return close();
      peer_.key_print = key;
    }
    read();
  }

  void read() {
    stream_.async_read_some(asio::buffer(bytes_),
                            [self = shared_from_this()](std::error_code error, std::size_t count) {
                              if (error) return self->close();
                              // From its first byte on a request has its time.
                              if (std::exchange(self->idle_, false))
                                self->wait_at_most(self->engine_.setup_.request);
                              self->on_bytes({self->bytes_.data(), count});
                            });
  }

  void on_bytes(std::string_view bytes) {
    using Event = api::RequestReader::Event;
    while (true) {
      const auto progress = reader_.feed(bytes);
      bytes.remove_prefix(progress.used);
      if (progress.event == Event::more) return read();
      if (progress.event == Event::fault) return write(reader_.fault(), false);
      if (progress.event == Event::head) {
        if (!reader_.body_too_large()) continue;
        return write(api::error_response(413, fmt::format("a request to the join port has at most "
                                                          "{} bytes of body",
                                                          kMaxBody)),
                     false);
      }
      // Requests come one at a time: a client that sends more at once is no machine of ours.
      const bool keep = reader_.keep_alive() && bytes.empty();
      const api::Response answer = engine_.setup_.desk->answer(reader_.request(), peer_);
      return write(answer, keep && is_of_machine());
    }
  }

  void write(const api::Response& response, bool keep) {
    out_ = head_of(response, keep) + response.body;
    asio::async_write(stream_, asio::buffer(out_),
                      [self = shared_from_this(), keep](std::error_code error, std::size_t) {
                        if (error || !keep) return self->shut_down();
                        self->reader_.reset();
                        self->idle_ = true;
                        self->wait_at_most(self->engine_.setup_.idle);
                        self->read();
                      });
  }

  /// Workers have certificates of that authority, too, and so have machines that were removed.
  bool is_of_machine() const {
    return !peer_.key_print.empty() && engine_.setup_.desk->book().knows(peer_.key_print);
  }
  void leave() {
    engine_.strangers_.leave(number_);
    engine_.machines_.leave(number_);
    engine_.sessions_.erase(number_);
  }

  /// Says that nothing more comes, within the time that is left.
  void shut_down() {
    stream_.async_shutdown([self = shared_from_this()](std::error_code) { self->close(); });
  }
  void wait_at_most(std::chrono::milliseconds time) {
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this()](std::error_code error) {
      const auto self = weak.lock();
      if (!error && self) self->close();
    });
  }

  Engine& engine_;
  const std::uint64_t number_;
  asio::ssl::stream<Tcp::socket> stream_;
  asio::steady_timer timer_;
  api::RequestReader reader_;
  JoinPeer peer_;
  std::array<char, 4096> bytes_{};
  std::string out_;
  bool idle_ = false;
};

void JoinServer::Engine::take(Tcp::socket socket) {
  std::error_code ignored;
  std::string address = socket.remote_endpoint(ignored).address().to_string();
  // Closed at once: those that are let in have some seconds each, so that places come free.
  if (strangers_.count_of(network_of(address)) >= setup_.strangers_of_address) return;
  if (strangers_.size() >= setup_.strangers) drop(*strangers_.oldest());
  socket.set_option(Tcp::no_delay(true), ignored);
  std::make_shared<Session>(*this, std::move(socket), std::move(address))->start();
}

bool JoinServer::Engine::admit(std::uint64_t connection, const std::string& key) {
  // A machine whose connection has ended without a word comes again.
  if (machines_.count_of(key) >= setup_.of_key) drop(*machines_.oldest_of(key));
  if (machines_.size() >= setup_.machines) return false;
  strangers_.leave(connection);
  machines_.enter(connection, key);
  return true;
}

void JoinServer::Engine::drop(std::uint64_t connection) {
  const auto found = sessions_.find(connection);
  if (found != sessions_.end()) found->second->close();
}

JoinServer::JoinServer(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

JoinServer::~JoinServer() {
  engine_->stop();
}

std::uint16_t JoinServer::port() const {
  return engine_->port();
}

Expected<std::unique_ptr<JoinServer>, LinkError> JoinServer::start(JoinServerSetup setup) {
  auto tls = context_of(setup);
  if (!tls) return tls.error();
  auto engine = std::make_unique<Engine>(std::move(setup), std::move(tls).value());
  if (const auto fault = engine->listen()) {
    return Failure<LinkError>{LinkError::cannot_listen, "the join port: " + *fault};
  }
  engine->run();
  return std::unique_ptr<JoinServer>(new JoinServer(std::move(engine)));
}

}  // namespace muster::hosts
