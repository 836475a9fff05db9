#pragma once

#include <array>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/link/frame.hpp"
#include "actors/link/frame_outbox.hpp"
#include "actors/link/frame_stream.hpp"
#include "actors/link/read_credits.hpp"
#include "actors/link/worker_link_options.hpp"

namespace muster {

/// Handlers that the owner of a connection gives it. All are called on the connection's thread, and
/// let go of when it is over. A text that a handler answers with says why the link has to end.
struct FrameHandlers {
  /// The handshake is done; `peer` is the name in the other end's certificate.
  std::function<std::optional<std::string>(const std::string& peer)> ready;
  /// A frame that does not steer the link. It is gone when the call returns.
  std::function<std::optional<std::string>(link_wire::Frame::Reader)> frame;
  /// Calls `passed`, from any thread, once all frames so far are dealt with.
  std::function<void(std::function<void()> passed)> fence;
  /// The last call: the link is over.
  std::function<void(const std::string& reason)> closed;
};

/// One connection of the worker link, from the handshake to its end: bounded frames, credits,
/// heartbeats. It lives on while its operations do. Calls come from the thread of its io_context
/// unless they say otherwise.
class FrameConnection : public std::enable_shared_from_this<FrameConnection> {
 public:
  FrameConnection(std::shared_ptr<asio::io_context> io, asio::ip::tcp::socket socket,
                  const TlsContext& tls, const WorkerLinkOptions& options);
  FrameConnection(const FrameConnection&) = delete;
  FrameConnection& operator=(const FrameConnection&) = delete;

  void start(LinkEnd own, FrameHandlers handlers);

  /// The other end has sent a proper first frame and takes that number of frames. False: the number
  /// is out of its range.
  bool met(std::uint32_t credits);

  /// The first frame, which needs no credit; like send() once the link is open. Any thread.
  void open(FrameBytes frame);
  /// Dropped while the link is not open. A queue that grows beyond its bound ends the link. Any
  /// thread.
  void send(FrameBytes frame);
  /// close(), from any thread.
  void end(const std::string& reason);
  /// Ends the link; `closed` is told before the call returns. Not to be called by its handlers.
  void close(const std::string& reason);
  /// Refuses, and tells the other end the reason.
  void refuse(const std::string& reason);

  const std::string& address() const { return stream_.address(); }
  bool encrypted() const { return stream_.encrypted(); }

 private:
  using Self = std::shared_ptr<FrameConnection>;
  using Clock = std::chrono::steady_clock;

  void handshake_done();
  void read_header();
  void header_read();
  void read_body(std::size_t done_bytes, std::size_t length);
  void body_read(std::size_t length);
  std::optional<std::string> dispatch(link_wire::Frame::Reader frame, std::size_t length);
  std::optional<std::string> steer(link_wire::Frame::Reader frame);
  void maybe_fence();
  void fence_passed(const ReadCredits::Fenced& fenced);
  void flush();
  void beat();
  void broken(const std::string& reason);
  void say_closed(const std::string& reason);
  void drain_out();

  std::shared_ptr<asio::io_context> io_;  ///< outlives what is posted to it
  const WorkerLinkOptions options_;
  FrameStream stream_;
  FrameHandlers handlers_;
  LinkEnd own_ = LinkEnd::master;
  asio::steady_timer beat_timer_;
  asio::steady_timer end_timer_;  ///< handshake first, then the time that a refusal is given
  FrameOutbox outbox_;

  std::array<unsigned char, kFrameHeaderBytes> header_{};
  std::vector<std::uint64_t> body_;
  FrameBytes writing_;
  FrameBytes farewell_;
  bool write_open_ = false;
  bool ready_ = false;  ///< the handshake is done
  bool met_ = false;    ///< the other end has said a proper first frame
  bool closed_ = false;
  bool refusing_ = false;

  ReadCredits credits_;
  std::uint32_t steering_seen_ = 0;
  Clock::time_point heard_;
};

}  // namespace muster
