// Reads HTTP requests by http_parser, fed with pieces as they come from the socket. The parser is
// paused after the head and after the whole request: the head can be refused before a body is read,
// and bytes of the next request stay with the caller. Where the parser takes more than RFC 9112
// allows, FrameCheck and the checks of the header fields refuse it.

#include "tools/serve/api/request_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace muster::api {
namespace {

constexpr std::size_t kBytesPerHeaderLine = 4;  // ": " and the line's end
/// http_parser's value when the request has no Content-Length.
constexpr std::uint64_t kUnknownLength = std::numeric_limits<std::uint64_t>::max();

// Header names are ASCII; a locale must not change how they compare.
char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool equal_ignoring_case(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, lower, lower);
}

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

/// A token of RFC 9110: with a space before the colon a name would be another one to others.
bool is_field_name(std::string_view name) {
  static constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [](char letter) {
    return is_digit(letter) || (lower(letter) >= 'a' && lower(letter) <= 'z') ||
           kMarks.find(letter) != std::string_view::npos;
  });
}

/// The words of a list between commas, without the spaces around them.
std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t comma = list.find(',');
    std::string_view word = list.substr(0, comma);
    const std::size_t first = word.find_first_not_of(" \t");
    word = first == std::string_view::npos
               ? std::string_view()
               : word.substr(first, word.find_last_not_of(" \t") + 1 - first);
    if (!word.empty()) words.push_back(word);
    if (comma == std::string_view::npos) return words;
    list.remove_prefix(comma + 1);
  }
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
    self.check_head();
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
  seen_ = 0;
  is_coded_ = false;
  coding_.clear();
  frame_.reset();
  fault_status_ = 0;
}

/// O(bytes). Not all of them are used when the parser pauses; the caller feeds the rest again.
RequestReader::Progress RequestReader::feed(std::string_view bytes) {
  static const http_parser_settings kSettings = Callbacks::settings();
  const std::size_t used = http_parser_execute(&parser_, &kSettings, bytes.data(), bytes.size());
  const http_errno error = HTTP_PARSER_ERRNO(&parser_);
  const std::string_view fault = frame_.look(bytes.substr(0, used));
  if (!fault.empty() && fault_status_ == 0) {
    fail(400, fault);
    return {Event::fault, used};
  }
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
  return parser_.content_length != kUnknownLength && parser_.content_length > limits_.max_body;
}

Response RequestReader::fault() const {
  return error_response(fault_status_, fault_status_ == 400
                                           ? fmt::format("this is not HTTP: {}", fault_message_)
                                           : fault_message_);
}

int RequestReader::fail(int status, std::string_view message) {
  // The first one is told: what follows may come of it.
  if (fault_status_ != 0) return -1;
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

/// Fields that may stand there once: which of two counts would depend on who reads the request.
bool RequestReader::is_first(Single field, std::string_view name) {
  const std::uint32_t mark = 1U << static_cast<unsigned>(field);
  if ((seen_ & mark) != 0) {
    fail(400, fmt::format("the header {} stands there twice", name));
    return false;
  }
  seen_ |= mark;
  return true;
}

void RequestReader::end_header() {
  struct Known {
    Single field;
    std::string_view name;
    std::string RequestHead::*value;
  };
  static constexpr std::array kKnown{
      Known{Single::authorization, "Authorization", &RequestHead::authorization},
      Known{Single::host, "Host", &RequestHead::host},
      Known{Single::caller, "Muster-Caller", &RequestHead::caller},
      Known{Single::number, "Idempotency-Key", &RequestHead::number},
      Known{Single::sent, "Muster-Sent", &RequestHead::sent}};
  // Nothing has come before the end of a head without fields.
  if (name_.empty() && value_.empty()) return;
  // The parser leaves the spaces behind a value there, which are no part of it.
  value_.resize(value_.find_last_not_of(" \t") + 1);
  if (!is_field_name(name_)) {
    fail(400, "the name of a header has to be letters, digits and -, up to its colon");
  }
  for (const Known& each : kKnown) {
    if (equal_ignoring_case(name_, each.name) && is_first(each.field, each.name)) {
      request_.head.*each.value = value_;
    }
  }
  if (equal_ignoring_case(name_, "expect")) {
    expects_continue_ = equal_ignoring_case(value_, "100-continue");
  } else if (equal_ignoring_case(name_, "transfer-encoding")) {
    coding_ += (coding_.empty() ? "" : ",") + value_;
    is_coded_ = true;
  } else if (equal_ignoring_case(name_, "content-length") &&
             (value_.empty() || !std::ranges::all_of(value_, is_digit))) {
    fail(400, "Content-Length has to be a number of bytes");
  }
  name_.clear();
  value_.clear();
  in_value_ = false;
}

/// What the fields say together. The parser refuses Content-Length beside Transfer-Encoding, and
/// two of the former.
void RequestReader::check_head() {
  if (parser_.http_major != 1 || parser_.http_minor > 1) {
    fail(400, "the version has to be HTTP/1.0 or HTTP/1.1");
  }
  if (parser_.http_minor == 1 && request_.head.host.empty()) {
    fail(400, "the header Host is missing or empty");
  }
  if (is_coded_) check_coding();
  if (is_coded_) {
    frame_.expect_chunks();
  } else if (parser_.content_length != kUnknownLength) {
    frame_.expect_body(parser_.content_length);
  }
}

/// Where chunks are not the last coding, or are put into chunks once more, nobody can say where the
/// body ends.
void RequestReader::check_coding() {
  const std::vector<std::string_view> codings = words_of(coding_);
  const auto is_chunked = [](std::string_view word) {
    return equal_ignoring_case(word, "chunked");
  };
  if (parser_.http_minor == 0) fail(400, "HTTP/1.0 has no Transfer-Encoding");
  if (codings.empty() || !is_chunked(codings.back()) ||
      std::ranges::count_if(codings, is_chunked) != 1) {
    fail(400, "Transfer-Encoding has to end with chunked, which stands there once");
  } else if (codings.size() > 1) {
    fail(501, "the only transfer coding that is understood is chunked");
  }
}

}  // namespace muster::api
