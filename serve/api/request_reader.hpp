#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "serve/api/frame_check.hpp"
#include "serve/api/http.hpp"

namespace muster::api {

/// Takes HTTP/1.x requests out of a stream of bytes. Its memory for a request is bounded by the
/// limits whatever the bytes are.
class RequestReader {
 public:
  struct Limits {
    std::size_t max_target = 4096;
    std::size_t max_header = 16 * 1024;  ///< names and values together, trailers too
    std::uint64_t max_body = 8 * 1024 * 1024;
  };

  /// Outcome of a call of feed().
  enum class Event : std::uint8_t {
    more,   ///< all bytes are used up and there have to be more
    head,   ///< the head is there; head() may be looked at before the body is read. Feed the rest,
            ///< were it nothing: there may be no body
    whole,  ///< the request is there
    fault,  ///< this is no request that can be answered; nothing can be read after it
  };
  struct Progress {
    Event event = Event::more;
    std::size_t used = 0;  ///< bytes of what was fed
  };

  explicit RequestReader(Limits limits);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  Progress feed(std::string_view bytes);
  /// Forgets the request; the next byte is the first of another one.
  void reset();

  const RequestHead& head() const { return request_.head; }
  const Request& request() const { return request_; }
  /// The length that the head gives, when it is more than the limit.
  bool body_too_large() const { return length_ && *length_ > limits_.max_body; }
  /// The client waits to be told before it sends the body.
  bool expects_continue() const { return expects_continue_ && length_ != 0; }
  /// Whether another request may follow; valid once the request is whole.
  bool keep_alive() const { return keep_alive_; }
  /// The answer to a fault.
  Response fault() const;

 private:
  class Parser;
  /// Header fields that may stand there once.
  enum class Single : std::uint8_t { authorization, host, caller, number, sent, length };

  std::size_t most_of_lines() const;
  void fail_too_long();
  void take(FrameCheck::Cut cut, std::string_view piece);
  void count_header(std::size_t bytes);
  void take_field(std::string_view name, std::string_view value);
  bool is_first(Single field, std::string_view name);
  void check_length(std::string_view value);
  void end_head();
  void check_head();
  void check_coding();
  void fail(int status, std::string_view message);

  Limits limits_;
  std::unique_ptr<Parser> parser_;
  Request request_;
  FrameCheck frame_;
  std::string part_;    ///< lines that the parser has not had, as their end has not come
  std::string coding_;  ///< all that Transfer-Encoding says
  std::optional<std::uint64_t> length_;  ///< the body's, as the head gives it
  std::size_t header_bytes_ = 0;
  std::uint32_t seen_ = 0;  ///< a bit for each Single
  bool is_coded_ = false;
  bool upgrades_ = false;
  bool head_done_ = false;
  bool whole_ = false;
  bool expects_continue_ = false;
  bool keep_alive_ = false;
  int fault_status_ = 0;
  std::string fault_message_;
};

}  // namespace muster::api
