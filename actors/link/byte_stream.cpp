#include "actors/link/byte_stream.hpp"

#include <asio/redirect_error.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <utility>

namespace muster {
namespace {

using asio::redirect_error;
using asio::use_awaitable;
using asio::ip::tcp;

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(tcp::socket socket) : socket_(std::move(socket)) {}

  asio::awaitable<void> handshake(TlsSide, asio::error_code& error) override {
    error = {};
    co_return;
  }
  asio::awaitable<std::size_t> read_some(asio::mutable_buffer into,
                                         asio::error_code& error) override {
    co_return co_await socket_.async_read_some(into, redirect_error(use_awaitable, error));
  }
  asio::awaitable<void> write(asio::const_buffer from, asio::error_code& error) override {
    co_await asio::async_write(socket_, from, redirect_error(use_awaitable, error));
  }
  tcp::socket& socket() override { return socket_; }
  std::string peer() override { return {}; }

 private:
  tcp::socket socket_;
};

class TlsStream final : public ByteStream {
 public:
  TlsStream(tcp::socket socket, asio::ssl::context& context)
      : stream_(std::move(socket), context) {}

  asio::awaitable<void> handshake(TlsSide side, asio::error_code& error) override {
    const auto type =
        side == TlsSide::server ? asio::ssl::stream_base::server : asio::ssl::stream_base::client;
    co_await stream_.async_handshake(type, redirect_error(use_awaitable, error));
  }
  asio::awaitable<std::size_t> read_some(asio::mutable_buffer into,
                                         asio::error_code& error) override {
    co_return co_await stream_.async_read_some(into, redirect_error(use_awaitable, error));
  }
  asio::awaitable<void> write(asio::const_buffer from, asio::error_code& error) override {
    co_await asio::async_write(stream_, from, redirect_error(use_awaitable, error));
  }
  tcp::socket& socket() override { return stream_.next_layer(); }
  std::string peer() override { return peer_name(stream_.native_handle()); }

 private:
  asio::ssl::stream<tcp::socket> stream_;
};

}  // namespace

void ByteStream::close() {
  // Errors are ignored: a socket that the other end has closed cannot be shut down, and need not
  // be.
  asio::error_code ignored;
  socket().shutdown(tcp::socket::shutdown_both, ignored);
  socket().close(ignored);
}

std::unique_ptr<ByteStream> make_stream(tcp::socket socket, const TlsContext& context) {
  if (!context) return std::make_unique<PlainStream>(std::move(socket));
  return std::make_unique<TlsStream>(std::move(socket), *context);
}

}  // namespace muster
