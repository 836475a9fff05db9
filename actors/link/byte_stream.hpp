#pragma once

#include <asio/awaitable.hpp>
#include <asio/buffer.hpp>
#include <asio/error_code.hpp>
#include <asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "actors/link/tls.hpp"

namespace muster {

/// Which part an end plays in the TLS handshake.
enum class TlsSide : std::uint8_t { server, client };

/// A TCP connection with or without TLS on it. One read and one write may be under way at a time;
/// the stream has to outlive them.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  virtual asio::awaitable<void> handshake(TlsSide side, asio::error_code& error) = 0;
  virtual asio::awaitable<std::size_t> read_some(asio::mutable_buffer into,
                                                 asio::error_code& error) = 0;
  /// Completes when everything is written.
  virtual asio::awaitable<void> write(asio::const_buffer from, asio::error_code& error) = 0;
  virtual asio::ip::tcp::socket& socket() = 0;
  /// The verified common name of the other end; empty without TLS.
  virtual std::string peer() = 0;

  /// Ends whatever is under way.
  void close();
};

/// Without a context the stream is plain.
std::unique_ptr<ByteStream> make_stream(asio::ip::tcp::socket socket, const TlsContext& context);

}  // namespace muster
