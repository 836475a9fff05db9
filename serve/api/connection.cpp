// One client's connection: reads one request after the other, has the Api answer it, and writes the
// response. Handlers run on the stream's strand, so the members need no lock; `waiting_since_` is
// atomic because the listener reads it from another strand.

#include "serve/api/connection.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <asio/bind_executor.hpp>
#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <exception>
#include <type_traits>
#include <utility>

namespace muster::api {
namespace {

using Tcp = asio::ip::tcp;
using Tls = asio::ssl::stream<Tcp::socket>;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBufferBytes = 16 * 1024;
constexpr std::size_t kPieceBytes = 64 * 1024;  ///< of a response, written at once
/// Bytes that a client may still send while the connection waits for it to close.
constexpr std::size_t kMaxDiscarded = 16 * 1024 * 1024;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// Nothing but what this server sends may be loaded, run or asked, and no page may frame it.
constexpr std::string_view kSafety =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cache-Control: no-store\r\n";

template <class Stream>
class StreamConnection final : public Connection,
                               public std::enable_shared_from_this<StreamConnection<Stream>> {
 public:
  StreamConnection(Stream stream, const Surroundings& around, std::function<void()> gone)
      : stream_(std::move(stream)),
        timer_(stream_.get_executor()),
        around_(around),
        gone_(std::move(gone)),
        reader_(around.options->request) {}
  // The last reference goes after the last handler: then the listener may take another connection
  // in.
  ~StreamConnection() override { gone_(); }

  void start() override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] { self->open(); });
  }
  void close() override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] { self->drop(); });
  }
  /// Since when the client has been awaited; nothing while the server itself works on a request.
  std::optional<Clock::time_point> waiting_since() const override {
    const Clock::time_point since = waiting_since_.load(std::memory_order_relaxed);
    return since == kBusy ? std::nullopt : std::optional(since);
  }

 private:
  enum class Phase : std::uint8_t { handshake, idle, reading, handling, writing, ending, closed };
  static constexpr bool kTls = std::is_same_v<Stream, Tls>;
  static constexpr Clock::time_point kBusy = Clock::time_point::max();

  void open() {
    if constexpr (kTls) {
      enter(Phase::handshake, around_.options->read);
      stream_.next_layer().async_wait(Tcp::socket::wait_read,
                                      [self = this->shared_from_this()](std::error_code error) {
                                        if (error) {
                                          return self->drop();
                                        }
                                        self->shake_hands();
                                      });
    } else {
      next_request();
    }
  }

  /// A client that says the first word of a request where a handshake begins is told how to ask; it
  /// would else see a connection that ends without a reason.
  void shake_hands() requires(kTls) {
    std::error_code error;
    char first = 0;
    Tcp::socket& plain = stream_.next_layer();
    plain.non_blocking(true, error);
    plain.receive(asio::buffer(&first, 1), Tcp::socket::message_peek, error);
    if (!error && first >= 'A' && first <= 'Z') return say_how_to_ask();
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = this->shared_from_this()](std::error_code failed) {
                              if (failed) {
                                return self->drop();
                              }
                              self->next_request();
                            });
  }

  void say_how_to_ask() requires(kTls) {
    const Response hint = error_response(
        400,
        "this port speaks TLS: ask it by https://, and name the authority that its certificate "
        "is of (muster: --ca FILE or MUSTER_CA)");
    around_.api->traffic()->answered({}, hint.status, 0);
    out_head_ = head_of(hint, false) + hint.body;
    enter(Phase::ending, around_.options->linger);
    asio::async_write(stream_.next_layer(), asio::buffer(out_head_),
                      [self = this->shared_from_this()](std::error_code error, std::size_t) {
                        if (error) {
                          return self->drop();
                        }
                        std::error_code ignored;
                        self->stream_.next_layer().shutdown(Tcp::socket::shutdown_send, ignored);
                        self->discard(self->stream_.next_layer());
                      });
  }

  void next_request() {
    if (phase_ == Phase::closed) {
      return;
    }
    reader_.reset();
    // A client may have sent its next request together with the last one.
    if (unread_.empty()) {
      enter(Phase::idle, around_.options->idle);
      read();
    } else {
      enter(Phase::reading, around_.options->read);
      parse();
    }
  }

  void read() {
    stream_.async_read_some(asio::buffer(buffer_), [self = this->shared_from_this()](
                                                       std::error_code error, std::size_t size) {
      if (error) {
        return self->drop();
      }
      // The phase changes when the time is over while the read is pending; its bytes are dropped.
      if (self->phase_ != Phase::idle && self->phase_ != Phase::reading) {
        return;  // the request was given up while this waited
      }
      if (self->phase_ == Phase::idle) {
        self->enter(Phase::reading, self->around_.options->read);
      }
      self->unread_ = {self->buffer_.data(), size};
      self->parse();
    });
  }

  void parse() {
    while (true) {
      const RequestReader::Progress progress = reader_.feed(unread_);
      unread_.remove_prefix(progress.used);
      switch (progress.event) {
        case RequestReader::Event::more:
          return read();
        case RequestReader::Event::head:
          if (auto refused = refuse()) {
            return refuse_with(std::move(*refused));
          }
          // Bytes that are here already show that the client does not wait to be asked.
          if (reader_.expects_continue() && unread_.empty()) {
            return send_continue();
          }
          break;
        case RequestReader::Event::whole:
          return handle();
        case RequestReader::Event::fault:
          return refuse_with(reader_.fault());
      }
    }
  }

  /// The answer to a request whose body is better not read.
  std::optional<Response> refuse() const {
    if (std::optional<Response> refused = around_.api->refuse(reader_.head(), around_.from)) {
      return refused;
    }
    if (reader_.body_too_large()) {
      return error_response(
          413, fmt::format("a body has at most {} bytes", around_.options->request.max_body));
    }
    return std::nullopt;
  }

  void refuse_with(Response response) {
    // Counted here: a refused request never becomes an Exchange, which counts the others.
    around_.api->traffic()->answered({}, response.status, 0);
    // Later bytes on the connection may be the body of this request: it is closed and not parsed.
    keep_alive_ = false;
    respond(std::move(response));
  }

  /// The client waits for this before it sends the body.
  void send_continue() {
    enter(Phase::writing, around_.options->write);
    asio::async_write(stream_, asio::buffer(kContinue),
                      [self = this->shared_from_this()](std::error_code error, std::size_t) {
                        if (error) {
                          return self->drop();
                        }
                        self->enter(Phase::reading, self->around_.options->read);
                        self->parse();
                      });
  }

  void handle() {
    keep_alive_ = reader_.keep_alive();
    enter(Phase::handling, around_.options->handle);
    // The context is kept by the reply: a backend may answer after the server is gone.
    const std::uint64_t number = ++requests_;
    Respond respond = [weak = this->weak_from_this(), context = around_.context,
                       executor = stream_.get_executor(), number](Response response) {
      // Back to the strand: the backend answers on threads of its own. The number tells a late
      // answer to an earlier request from the one that is awaited.
      asio::post(executor, [weak, number, response = std::move(response)]() mutable {
        const auto self = weak.lock();
        if (self && self->phase_ == Phase::handling && self->requests_ == number) {
          self->respond(std::move(response));
        }
      });
    };
    const Request& request = reader_.request();
    try {
      exchange_ = around_.api->handle(request, around_.from, std::move(respond));
      if (exchange_->extra() > Duration::zero()) {
        const auto extra = std::chrono::ceil<std::chrono::milliseconds>(exchange_->extra());
        enter(Phase::handling, around_.options->handle + extra);
        watch_client(number);
      }
    } catch (const std::exception& error) {
      // One request must not end the node.
      this->respond(error_response(500, error.what()));
    }
  }

  /// Gives the request's place back when its client has gone: others wait for it.
  void watch_client(std::uint64_t number) {
    const auto look = [self = this->shared_from_this(), number](std::error_code error) {
      if (error || self->phase_ != Phase::handling || self->requests_ != number) return;
      char byte = 0;
      const auto got =
          ::recv(self->stream_.lowest_layer().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
      // Early bytes of its next request are no end.
      if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
      const std::shared_ptr<Exchange> exchange = self->exchange_;
      self->drop();
      if (exchange) exchange->expire();
    };
    stream_.lowest_layer().async_wait(asio::socket_base::wait_read, look);
  }

  void respond(Response response) {
    if (phase_ == Phase::closed) {
      return;
    }
    enter(Phase::writing, around_.options->write);
    exchange_.reset();
    out_head_ = head_of(response, keep_alive_);
    out_body_ = reader_.head().method == "HEAD" ? std::string() : std::move(response.body);
    const std::array<asio::const_buffer, 2> parts{asio::buffer(out_head_), asio::buffer(out_body_)};
    // Asked before each piece: bytes that have gone since are a sign of life of the client.
    const auto piece = [self = this->shared_from_this(), gone = std::size_t{0}](
                           std::error_code error, std::size_t sent) mutable {
      if (sent > std::exchange(gone, sent)) self->waits_from_now();
      return error ? std::size_t{0} : kPieceBytes;
    };
    asio::async_write(stream_, parts, piece,
                      [self = this->shared_from_this()](std::error_code error, std::size_t) {
                        if (error || self->phase_ == Phase::closed) {
                          return self->drop();
                        }
                        if (self->keep_alive_) {
                          return self->next_request();
                        }
                        self->end();
                      });
  }

  /// Says that nothing more comes, then reads for a while what the client still sends: closing at
  /// once would take the response away from it.
  void end() {
    if (read_pending_) {
      return drop();
    }
    enter(Phase::ending, around_.options->linger);
    if constexpr (kTls) {
      stream_.async_shutdown([self = this->shared_from_this()](std::error_code) { self->drop(); });
    } else {
      std::error_code ignored;
      stream_.shutdown(Tcp::socket::shutdown_send, ignored);
      discard(stream_);
    }
  }

  void discard(Tcp::socket& from) {
    from.async_read_some(asio::buffer(buffer_), [self = this->shared_from_this(), &from](
                                                    std::error_code error, std::size_t size) {
      self->discarded_ += size;
      if (error || self->discarded_ > kMaxDiscarded) {
        return self->drop();
      }
      self->discard(from);
    });
  }

  void enter(Phase phase, std::chrono::milliseconds limit) {
    if (phase_ == Phase::closed) {
      return;
    }
    // A request that comes slowly has been waited for since before its first byte: the time of
    // `idle` and of each read are one wait.
    const bool goes_on = phase == Phase::reading && phase_ < Phase::handling;
    if (phase == Phase::handling) {
      waiting_since_.store(kBusy, std::memory_order_relaxed);
    } else if (!goes_on) {
      waits_from_now();
    }
    phase_ = phase;
    // A timer that has expired may have its handler queued: the turn tells it that it counts no
    // longer.
    const std::uint64_t turn = ++turn_;
    timer_.expires_after(limit);
    timer_.async_wait([self = this->shared_from_this(), turn](std::error_code error) {
      if (!error && turn == self->turn_) {
        self->time_over();
      }
    });
  }

  void waits_from_now() { waiting_since_.store(Clock::now(), std::memory_order_relaxed); }

  void time_over() {
    switch (phase_) {
      case Phase::reading:
        read_pending_ = true;
        return refuse_with(error_response(408, "the request did not come in time"));
      case Phase::handling:
        if (exchange_) {
          // The response comes back here; until then nothing else can.
          enter(Phase::handling, around_.options->handle);
          exchange_->expire();
        }
        return;
      default:
        return drop();
    }
  }

  void drop() {
    if (phase_ == Phase::closed) {
      return;
    }
    phase_ = Phase::closed;
    // Makes handlers of the timer that are queued already harmless.
    ++turn_;
    exchange_.reset();
    timer_.cancel();
    std::error_code ignored;
    stream_.lowest_layer().close(ignored);
  }

  Stream stream_;
  asio::steady_timer timer_;
  Surroundings around_;
  std::function<void()> gone_;
  RequestReader reader_;
  std::array<char, kBufferBytes> buffer_{};
  std::string_view unread_;  ///< of the buffer
  std::shared_ptr<Exchange> exchange_;
  std::string out_head_;
  std::string out_body_;
  std::size_t discarded_ = 0;
  std::atomic<Clock::time_point> waiting_since_{Clock::now()};
  std::uint64_t turn_ = 0;  ///< which of the timer's waits counts
  Phase phase_ = Phase::idle;
  bool keep_alive_ = false;
  bool read_pending_ = false;  ///< a read waits whose bytes are not needed any more
  std::uint64_t requests_ = 0;
};

}  // namespace

std::string head_of(const Response& response, bool keep_alive) {
  const std::time_t now = std::time(nullptr);  // NOLINT: HTTP wants the wall clock's date
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {:%a, %d %b %Y %H:%M:%S} GMT\r\n",
                                 response.status, reason_phrase(response.status), fmt::gmtime(now));
  if (response.status != 204) {
    head += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", response.content_type,
                        response.body.size());
  }
  for (const auto& [name, value] : response.headers) {
    head += fmt::format("{}: {}\r\n", name, value);
  }
  head += kSafety;
  head += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head;
}

std::shared_ptr<Connection> make_connection(Tcp::socket socket, const Surroundings& around,
                                            std::function<void()> gone) {
  return std::make_shared<StreamConnection<Tcp::socket>>(std::move(socket), around,
                                                         std::move(gone));
}

std::shared_ptr<Connection> make_tls_connection(Tcp::socket socket,
                                                std::shared_ptr<asio::ssl::context> tls,
                                                const Surroundings& around,
                                                std::function<void()> gone) {
  return std::make_shared<StreamConnection<Tls>>(Tls(std::move(socket), *tls), around,
                                                 std::move(gone));
}

}  // namespace muster::api
