#pragma once

#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl.hpp>
#include <functional>
#include <memory>
#include <string>
#include <system_error>

#include "actors/link/tls.hpp"

namespace muster {

/// Which end of a connection this one is.
enum class LinkEnd : std::uint8_t { master, worker };

/// A TCP connection, in TLS or, where that was asked for, without. All calls have to come from the
/// thread of its executor; every handler is called exactly once, with an error after close().
class FrameStream {
 public:
  using Done = std::function<void(std::error_code)>;

  /// Without a context the bytes go as they are.
  FrameStream(asio::ip::tcp::socket socket, const TlsContext& tls);
  FrameStream(const FrameStream&) = delete;
  FrameStream& operator=(const FrameStream&) = delete;

  /// Ends well only when both certificates are good; at once without TLS.
  void handshake(LinkEnd own, Done done);
  /// Fills the whole buffer, which has to stay until `done`.
  void read(asio::mutable_buffer into, Done done);
  /// Writes the whole buffer, which has to stay until `done`.
  void write(asio::const_buffer from, Done done);
  /// Writes no more; reads and drops the bytes of the other end until it closes.
  void drain(Done done);
  void close();

  bool encrypted() const { return tls_ != nullptr; }
  /// Common name of the other end's certificate; empty without TLS.
  std::string peer() const;
  /// Address and port of the other end, for people.
  const std::string& address() const { return address_; }
  asio::ip::tcp::socket::executor_type executor() { return socket_.get_executor(); }

 private:
  asio::ip::tcp::socket socket_;
  TlsContext context_;
  std::unique_ptr<asio::ssl::stream<asio::ip::tcp::socket&>> tls_;
  std::string address_;
  std::array<char, 1024> dropped_{};
};

}  // namespace muster
