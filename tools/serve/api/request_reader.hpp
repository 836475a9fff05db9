#pragma once

#include <http_parser.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/serve/api/frame_check.hpp"
#include "tools/serve/api/http.hpp"

namespace muster::api {

/// Takes HTTP/1.x requests out of a stream of bytes. What it holds of a request is bounded by the
/// limits whatever the bytes are.
class RequestReader {
 public:
  struct Limits {
    std::size_t max_target = 4096;
    std::size_t max_header = 16 * 1024;  ///< names and values together, trailers too
    std::uint64_t max_body = 8 * 1024 * 1024;
  };

  /// What a call of feed() has led to.
  enum class Event : std::uint8_t {
    more,   ///< all bytes are used up and there have to be more
    head,   ///< the head is there; head() may be looked at before the body is read
    whole,  ///< the request is there
    fault,  ///< this is no request that can be answered; nothing can be read after it
  };
  struct Progress {
    Event event = Event::more;
    std::size_t used = 0;  ///< bytes of what was fed
  };

  explicit RequestReader(Limits limits);
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  Progress feed(std::string_view bytes);
  /// Forgets the request; the next byte is the first of another one.
  void reset();

  const RequestHead& head() const { return request_.head; }
  const Request& request() const { return request_; }
  /// The length that the head gives, when it is more than the limit.
  bool body_too_large() const;
  /// The client waits to be told before it sends the body.
  bool expects_continue() const { return expects_continue_ && parser_.content_length != 0; }
  /// Whether another request may follow; valid once the request is whole.
  bool keep_alive() const { return keep_alive_; }
  /// What to answer to a fault.
  Response fault() const;

 private:
  struct Callbacks;
  /// Header fields that may stand there once.
  enum class Single : std::uint8_t { authorization, host, caller, number, sent };

  bool count_header(std::size_t bytes);
  bool take_name(std::string_view piece);
  bool take_value(std::string_view piece);
  bool is_first(Single field, std::string_view name);
  void end_header();
  void check_head();
  void check_coding();
  int fail(int status, std::string_view message);

  Limits limits_;
  http_parser parser_{};
  Request request_;
  std::string name_;
  std::string value_;
  std::string coding_;  ///< all that Transfer-Encoding says
  FrameCheck frame_;
  std::size_t header_bytes_ = 0;
  std::uint32_t seen_ = 0;  ///< a bit for each Single
  bool is_coded_ = false;
  bool in_value_ = false;
  bool head_done_ = false;
  bool whole_ = false;
  bool keep_alive_ = false;
  bool expects_continue_ = false;
  int fault_status_ = 0;
  std::string fault_message_;
};

}  // namespace muster::api
