#include "actors/link/frame_connection.hpp"

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <utility>

// Everything runs on the thread of the io_context but for send(), open() and end(), which go
// through the outbox or are posted. An operation under way holds the connection; a posted step
// holds it weakly. closed_ and refusing_ are tested after each, since handlers may end the link.

namespace muster {
namespace {

constexpr std::size_t kWriteBytes = 64 * 1024;
/// Room for a frame grows with what has come in of it, so that announcing much costs nothing.
constexpr std::size_t kReadStepBytes = 64 * 1024;
constexpr std::size_t kKeptWords = kReadStepBytes / sizeof(std::uint64_t);
constexpr Duration kRefusalTime = from_seconds(1);

std::string seconds_text(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) +
         " ms";
}

}  // namespace

FrameConnection::FrameConnection(std::shared_ptr<asio::io_context> io, asio::ip::tcp::socket socket,
                                 const TlsContext& tls, const WorkerLinkOptions& options)
    : io_(std::move(io)),
      options_(options),
      stream_(std::move(socket), tls),
      beat_timer_(*io_),
      end_timer_(*io_),
      outbox_({options.max_queued_frames, options.max_queued_bytes},
              // Woken from any thread, maybe under a caller's locks: the writing itself is posted.
              [this] {
                asio::post(*io_, [weak = weak_from_this()] {
                  if (const Self self = weak.lock()) self->flush();
                });
              }),
      credits_(options.credits, options.max_unread_bytes) {}

void FrameConnection::start(LinkEnd own, FrameHandlers handlers) {
  own_ = own;
  handlers_ = std::move(handlers);
  // One deadline for TLS and the first frame: a silent connection costs a place for that long at
  // most.
  end_timer_.expires_after(options_.handshake);
  end_timer_.async_wait([self = shared_from_this()](std::error_code error) {
    if (!error && !self->met_) {
      self->close("no proper first frame within " + seconds_text(self->options_.handshake));
    }
  });
  stream_.handshake(own, [self = shared_from_this()](std::error_code error) {
    if (self->closed_) return;
    if (error) return self->close("handshake: " + error.message());
    self->handshake_done();
  });
}

void FrameConnection::handshake_done() {
  heard_ = Clock::now();
  ready_ = true;
  if (const auto problem = handlers_.ready(stream_.peer())) return broken(*problem);
  if (closed_ || refusing_) return;
  beat();
  flush();  // the first frame may have been there before the handshake was done
  read_header();
}

bool FrameConnection::met(std::uint32_t credits) {
  if (credits == 0 || !outbox_.grant(credits)) return false;
  met_ = true;
  end_timer_.cancel();
  return true;
}

void FrameConnection::open(FrameBytes frame) {
  if (outbox_.open(std::move(frame)) == FrameOutbox::Put::overflow) end("the queue is full");
}

void FrameConnection::send(FrameBytes frame) {
  if (outbox_.put(std::move(frame)) == FrameOutbox::Put::overflow) {
    end("the other end takes too little: the queue of " +
        std::to_string(options_.max_queued_frames) + " frames or " +
        std::to_string(options_.max_queued_bytes) + " bytes is full");
  }
}

// A posted step does not keep the connection: the thread that would run it may be gone.
void FrameConnection::end(const std::string& reason) {
  asio::post(*io_, [weak = weak_from_this(), reason] {
    if (const Self self = weak.lock()) self->close(reason);
  });
}

void FrameConnection::read_header() {
  if (closed_ || refusing_) return;
  if (credits_.pause_if_full()) return maybe_fence();
  stream_.read(asio::buffer(header_), [self = shared_from_this()](std::error_code error) {
    if (self->closed_ || self->refusing_) return;
    if (error) return self->close("the other end is gone: " + error.message());
    self->header_read();
  });
}

void FrameConnection::header_read() {
  const std::uint32_t length = frame_length(header_);
  if (const auto problem = length_problem(length, options_.max_frame_bytes)) {
    return broken(*problem);
  }
  body_.clear();
  read_body(0, length);
}

void FrameConnection::read_body(std::size_t done_bytes, std::size_t length) {
  const std::size_t step = std::min(kReadStepBytes, length - done_bytes);
  body_.resize((done_bytes + step) / sizeof(std::uint64_t));
  const auto into = asio::buffer(reinterpret_cast<unsigned char*>(body_.data()) + done_bytes, step);
  stream_.read(
      into, [self = shared_from_this(), done = done_bytes + step, length](std::error_code error) {
        if (self->closed_ || self->refusing_) return;
        if (error) return self->close("the other end is gone: " + error.message());
        if (done < length) return self->read_body(done, length);
        self->body_read(length);
      });
}

void FrameConnection::body_read(std::size_t length) {
  heard_ = Clock::now();
  const auto problem = read_frame(
      body_, [this, length](link_wire::Frame::Reader frame) { return dispatch(frame, length); });
  // A large frame is rare; its buffer is not kept for each of thousands of links.
  if (body_.capacity() > kKeptWords) std::vector<std::uint64_t>().swap(body_);
  if (closed_ || refusing_) return;
  // In this order: a handler may have ended the link itself, with a reason of its own.
  if (problem) return broken(*problem);
  read_header();
}

std::optional<std::string> FrameConnection::dispatch(link_wire::Frame::Reader frame,
                                                     std::size_t length) {
  const auto kind = frame.which();
  if (kind == link_wire::Frame::HEARTBEAT || kind == link_wire::Frame::CREDIT) return steer(frame);
  // The frame that opens the link is the only one before there can be credits.
  const bool credited = met_ && takes_credit(kind);
  if (credited && !credits_.take()) return "more frames than there were credits for";
  if (auto problem = handlers_.frame(frame)) return problem;
  credits_.hand_on(length, credited);
  if (credits_.wants_fence()) maybe_fence();
  return std::nullopt;
}

std::optional<std::string> FrameConnection::steer(link_wire::Frame::Reader frame) {
  if (!met_) return "the first frame has to be a hello or its answer";
  if (++steering_seen_ > options_.max_steering_frames) {
    return "more than " + std::to_string(options_.max_steering_frames) +
           " heartbeats and credits within " + seconds_text(options_.heartbeat);
  }
  if (frame.isCredit() && !outbox_.grant(frame.getCredit())) {
    return "more credits than anybody could use";
  }
  return std::nullopt;
}

void FrameConnection::maybe_fence() {
  if (closed_ || refusing_) return;
  const auto fenced = credits_.fence();
  if (!fenced) return;
  handlers_.fence([weak = weak_from_this(), fenced = *fenced] {
    const Self self = weak.lock();
    if (self == nullptr) return;
    asio::post(*self->io_, [weak, fenced] {
      if (const Self again = weak.lock()) again->fence_passed(fenced);
    });
  });
}

void FrameConnection::fence_passed(const ReadCredits::Fenced& fenced) {
  if (closed_ || refusing_) return;
  credits_.pass(fenced);
  if (fenced.frames > 0) outbox_.put_steering(credit_frame(fenced.frames));
  // Frames that came while the fence was open.
  if (credits_.wants_fence()) maybe_fence();
  if (credits_.paused()) {
    // The silence of a pause is this end's own.
    heard_ = Clock::now();
    read_header();
  }
}

void FrameConnection::flush() {
  if (!ready_ || write_open_ || closed_) return;
  // A piece at a time: steering frames that come meanwhile go before the rest.
  writing_ = refusing_ ? std::exchange(farewell_, {}) : outbox_.take(kWriteBytes);
  if (writing_.empty()) {
    if (refusing_) drain_out();
    return;
  }
  write_open_ = true;
  stream_.write(asio::buffer(writing_), [self = shared_from_this()](std::error_code error) {
    self->write_open_ = false;
    if (self->closed_) return;
    if (error) return self->close("the other end is gone: " + error.message());
    self->flush();
  });
}

void FrameConnection::beat() {
  if (closed_ || refusing_) return;
  steering_seen_ = 0;
  const auto silence = Clock::now() - heard_;
  // A pause is this end's own doing: frames of the other end are not read meanwhile.
  if (met_ && !credits_.paused() && silence > options_.dead_after) {
    return close("nothing heard for " + seconds_text(options_.dead_after));
  }
  if (outbox_.is_open()) outbox_.put_steering(heartbeat_frame());
  beat_timer_.expires_after(options_.heartbeat);
  beat_timer_.async_wait([self = shared_from_this()](std::error_code error) {
    if (!error) self->beat();
  });
}

void FrameConnection::broken(const std::string& reason) {
  // A worker learns from a refusal that dialing again at once is of no use. A master needs no such
  // word: it waits for workers.
  if (own_ == LinkEnd::master) {
    refuse(reason);
  } else {
    close(reason);
  }
}

void FrameConnection::say_closed(const std::string& reason) {
  outbox_.close();
  beat_timer_.cancel();
  // The handlers hold their owner, which may hold this connection.
  const FrameHandlers handlers = std::exchange(handlers_, {});
  if (handlers.closed) handlers.closed(reason);
}

void FrameConnection::close(const std::string& reason) {
  if (closed_) return;
  // The handlers may hold the last reference.
  const Self self = shared_from_this();
  closed_ = true;
  end_timer_.cancel();
  stream_.close();
  say_closed(reason);
}

// Closing with unread bytes would reset the connection and take the refusal back; so the other end
// gets a little while to read it and to close.
void FrameConnection::refuse(const std::string& reason) {
  if (closed_ || refusing_) return;
  const Self self = shared_from_this();
  refusing_ = true;
  say_closed(reason);
  end_timer_.expires_after(kRefusalTime);
  end_timer_.async_wait([self](std::error_code error) {
    if (!error) self->close({});
  });
  farewell_ = refused_frame(reason);
  flush();  // else when the write that is under way is done
}

void FrameConnection::drain_out() {
  stream_.drain([self = shared_from_this()](std::error_code) { self->close({}); });
}

}  // namespace muster
