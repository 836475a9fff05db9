// Reads HTTP requests by http_parser, fed with pieces as they come from the socket. The parser is
// paused after the head and after the whole request: the head can be refused before a body is read,
// and bytes of the next request stay with the caller.

#include "tools/serve/api/request_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace muster::api {
namespace {

constexpr std::size_t kBytesPerHeaderLine = 4;  // ": " and the line's end

// Header names are ASCII; a locale must not change how they compare.
bool equal_ignoring_case(std::string_view left, std::string_view right) {
  const auto lower = [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  };
  return std::ranges::equal(left, right, {}, lower, lower);
}

}  // namespace

// A callback that returns other than 0 ends the parsing with an error.
/// What the parser calls; it has no state but the reader's.
struct RequestReader::Callbacks {
  static RequestReader& reader(http_parser* parser) {
    return *static_cast<RequestReader*>(parser->data);
  }
  static int on_url(http_parser* parser, const char* bytes, std::size_t size) {
    RequestReader& self = reader(parser);
    self.request_.head.target.append(bytes, size);
    return self.request_.head.target.size() <= self.limits_.max_target
               ? 0
               : self.fail(414, "the request's target is too long");
  }
  static int on_header_field(http_parser* parser, const char* bytes, std::size_t size) {
    return reader(parser).take_name({bytes, size}) ? 0 : 1;
  }
  static int on_header_value(http_parser* parser, const char* bytes, std::size_t size) {
    return reader(parser).take_value({bytes, size}) ? 0 : 1;
  }
  static int on_headers_complete(http_parser* parser) {
    RequestReader& self = reader(parser);
    self.end_header();
    if (parser->http_major != 1 || parser->http_minor > 1) {
      self.fail(400, "the version has to be HTTP/1.0 or HTTP/1.1");
    }
    // A fault of a header field or of the version ends the parsing here.
    if (self.fault_status_ != 0) {
      return -1;
    }
    self.head_done_ = true;
    self.request_.head.method = http_method_str(static_cast<http_method>(parser->method));
    // A pause is no error: feed() returns with the head done.
    http_parser_pause(parser, 1);
    return 0;
  }
  static int on_body(http_parser* parser, const char* bytes, std::size_t size) {
    RequestReader& self = reader(parser);
    // Written as a difference: the sum could overflow.
    if (size > self.limits_.max_body - self.request_.body.size()) {
      return self.fail(413, "the body is too large");
    }
    self.request_.body.append(bytes, size);
    return 0;
  }
  static int on_message_complete(http_parser* parser) {
    RequestReader& self = reader(parser);
    self.whole_ = true;
    // After an upgrade the bytes are of another protocol: no request follows.
    self.keep_alive_ = parser->upgrade == 0 && http_should_keep_alive(parser) != 0;
    http_parser_pause(parser, 1);
    return 0;
  }
  static http_parser_settings settings() {
    http_parser_settings all;
    http_parser_settings_init(&all);
    all.on_url = on_url;
    all.on_header_field = on_header_field;
    all.on_header_value = on_header_value;
    all.on_headers_complete = on_headers_complete;
    all.on_body = on_body;
    all.on_message_complete = on_message_complete;
    return all;
  }
};

RequestReader::RequestReader(Limits limits) : limits_(limits) {
  reset();
}

void RequestReader::reset() {
  http_parser_init(&parser_, HTTP_REQUEST);
  parser_.data = this;
  request_ = {};
  name_.clear();
  value_.clear();
  header_bytes_ = 0;
  in_value_ = head_done_ = whole_ = keep_alive_ = expects_continue_ = false;
  fault_status_ = 0;
}

/// O(bytes). Not all of them are used when the parser pauses; the caller feeds the rest again.
RequestReader::Progress RequestReader::feed(std::string_view bytes) {
  static const http_parser_settings kSettings = Callbacks::settings();
  const std::size_t used = http_parser_execute(&parser_, &kSettings, bytes.data(), bytes.size());
  const http_errno error = HTTP_PARSER_ERRNO(&parser_);
  if (error == HPE_OK) {
    return {Event::more, used};
  }
  if (error == HPE_PAUSED) {
    http_parser_pause(&parser_, 0);
    return {whole_ ? Event::whole : Event::head, used};
  }
  if (error == HPE_HEADER_OVERFLOW) {
    fail(431, "the request's head is too large");
  } else if (fault_status_ == 0) {
    fail(400, http_errno_description(error));
  }
  return {Event::fault, used};
}

bool RequestReader::body_too_large() const {
  // http_parser's value when the request has no Content-Length.
  constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();
  return parser_.content_length != kUnknown && parser_.content_length > limits_.max_body;
}

Response RequestReader::fault() const {
  return error_response(fault_status_, fault_status_ == 400
                                           ? fmt::format("this is not HTTP: {}", fault_message_)
                                           : fault_message_);
}

int RequestReader::fail(int status, const char* message) {
  fault_status_ = status;
  fault_message_ = message;
  return -1;
}

bool RequestReader::count_header(std::size_t bytes) {
  header_bytes_ += bytes;
  if (header_bytes_ > limits_.max_header) {
    fail(431, "the request's header fields are too large");
    return false;
  }
  return true;
}

bool RequestReader::take_name(std::string_view piece) {
  if (in_value_) {
    // A name after a value: the header before is complete. Either may come in several pieces.
    end_header();
  }
  const bool fits = count_header(piece.size() + (name_.empty() ? kBytesPerHeaderLine : 0));
  // Trailers after a chunked body count against the limit but change no head.
  if (fits && !head_done_) {
    name_ += piece;
  }
  return fits && fault_status_ == 0;
}

bool RequestReader::take_value(std::string_view piece) {
  in_value_ = true;
  const bool fits = count_header(piece.size());
  if (fits && !head_done_) {
    value_ += piece;
  }
  return fits;
}

void RequestReader::end_header() {
  if (equal_ignoring_case(name_, "authorization")) {
    // Two tokens: which one counts would depend on who reads the request.
    if (!request_.head.authorization.empty()) {
      fail(400, "the header Authorization stands there twice");
    }
    request_.head.authorization = value_;
  } else if (equal_ignoring_case(name_, "host")) {
    // Which of two counts would depend on who reads the request, as above.
    if (!request_.head.host.empty()) fail(400, "the header Host stands there twice");
    request_.head.host = value_;
  } else if (equal_ignoring_case(name_, "muster-caller")) {
    request_.head.caller = value_;
  } else if (equal_ignoring_case(name_, "expect")) {
    expects_continue_ = equal_ignoring_case(value_, "100-continue");
  }
  name_.clear();
  value_.clear();
  in_value_ = false;
}

}  // namespace muster::api
