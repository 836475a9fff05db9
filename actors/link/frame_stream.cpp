#include "actors/link/frame_stream.hpp"

#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <sstream>
#include <utility>

// One interface over a socket with TLS and one without, so that FrameConnection has a single path;
// the plain one is for loopback addresses.

namespace muster {
namespace {

/// A handler for asio, which passes a size that is not used here.
auto without_size(FrameStream::Done done) {
  return [done = std::move(done)](std::error_code error, std::size_t) { done(error); };
}

}  // namespace

FrameStream::FrameStream(asio::ip::tcp::socket socket, const TlsContext& tls)
    : socket_(std::move(socket)), context_(tls) {
  std::error_code ignored;
  // Frames are small and waited for.
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  std::error_code unknown;
  // The other end may be gone already, which the first read will say.
  const auto remote = socket_.remote_endpoint(unknown);
  std::ostringstream text;
  if (!unknown) text << remote;
  address_ = unknown ? "an address that is gone" : text.str();
  if (context_ != nullptr) {
    tls_ = std::make_unique<asio::ssl::stream<asio::ip::tcp::socket&>>(socket_, *context_);
  }
}

void FrameStream::handshake(LinkEnd own, Done done) {
  if (tls_ == nullptr) {
    // Never called from within this call, with TLS or without.
    asio::post(socket_.get_executor(), [done = std::move(done)] { done({}); });
    return;
  }
  const auto role =
      own == LinkEnd::master ? asio::ssl::stream_base::server : asio::ssl::stream_base::client;
  tls_->async_handshake(role, std::move(done));
}

void FrameStream::read(asio::mutable_buffer into, Done done) {
  if (tls_ != nullptr) {
    asio::async_read(*tls_, into, without_size(std::move(done)));
  } else {
    asio::async_read(socket_, into, without_size(std::move(done)));
  }
}

void FrameStream::write(asio::const_buffer from, Done done) {
  if (tls_ != nullptr) {
    asio::async_write(*tls_, from, without_size(std::move(done)));
  } else {
    asio::async_write(socket_, from, without_size(std::move(done)));
  }
}

// Reads on until the other end closes: an unread byte at close() would reset the connection, and
// what was just written could be lost.
void FrameStream::drain(Done done) {
  std::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  socket_.async_read_some(asio::buffer(dropped_),
                          [this, done = std::move(done)](std::error_code error, std::size_t) {
                            if (error) {
                              done(error);
                            } else {
                              drain(done);
                            }
                          });
}

void FrameStream::close() {
  std::error_code ignored;
  socket_.close(ignored);
}

std::string FrameStream::peer() const {
  return tls_ == nullptr ? std::string() : peer_name(tls_->native_handle());
}

}  // namespace muster
