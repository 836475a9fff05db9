// Reads HTTP requests by the parser of Boost.Beast. FrameCheck looks at the bytes first: it cuts
// them into lines and pieces of the body, and refuses where the parser takes more than RFC 9112
// allows. So the parser is only given whole lines, and what it says cannot depend on how the bytes
// came.

#include "serve/api/request_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace muster::api {
namespace {

namespace http = boost::beast::http;
using ErrorCode = boost::beast::error_code;
using Text = boost::beast::string_view;

constexpr std::size_t kBytesPerHeaderLine = 4;  // ": " and the line's end
/// Of the first line besides its target: the longest method, two spaces, the version and the end.
constexpr std::size_t kBytesBesideTarget = 32;
/// Bytes of lines besides fields, of a head or before a chunk, where the size of the chunk stands.
constexpr std::size_t kBytesBesideFields = 64;
constexpr std::string_view kCoding = "transfer-encoding";
constexpr int kVersion10 = 10;

std::string_view view(Text text) {
  return {text.data(), text.size()};
}

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

/// The words of a list between commas, without the spaces around them; one may be empty.
std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t comma = list.find(',');
    std::string_view word = list.substr(0, comma);
    const std::size_t first = word.find_first_not_of(" \t");
    word = first == std::string_view::npos
               ? std::string_view()
               : word.substr(first, word.find_last_not_of(" \t") + 1 - first);
    words.push_back(word);
    if (comma == std::string_view::npos) return words;
    list.remove_prefix(comma + 1);
  }
}

bool is_letter(char c) {
  return lower(c) >= 'a' && lower(c) <= 'z';
}

/// A path, all of the server, or a whole address; CONNECT has a host and a port.
bool is_target(std::string_view target, http::verb method) {
  static constexpr std::string_view kOfAuthority = "-_.!~*'()%;:&=+$,[]@";
  static constexpr std::string_view kBeforeAuthority = "://";
  if (target.front() == '/' || target.front() == '*') return method != http::verb::connect;
  if (method != http::verb::connect) {
    const std::size_t scheme = target.find(kBeforeAuthority);
    if (scheme == 0 || scheme == std::string_view::npos) return false;
    if (!std::ranges::all_of(target.substr(0, scheme), is_letter)) return false;
    target.remove_prefix(scheme + kBeforeAuthority.size());
  }
  const std::string_view authority = target.substr(0, target.find_first_of("/?"));
  return !authority.empty() && std::ranges::count(authority, '@') <= 1 &&
         std::ranges::all_of(authority, [](char c) {
           return is_letter(c) || is_digit(c) || kOfAuthority.find(c) != std::string_view::npos;
         });
}

/// Whether nothing but spaces stands between a field's value and the end of its line, both of which
/// the parser has seen: how a tab there is read differs.
bool ends_plainly(std::string_view value) {
  const char* behind = value.data() + value.size();
  while (*behind == ' ') ++behind;
  return *behind == '\r';
}

std::string words_for(const ErrorCode& error) {
  if (error == http::error::bad_method) return "its method is unknown";
  if (error == http::error::bad_target) return "its target is malformed";
  if (error == http::error::bad_version) return "the version has to be HTTP/1.0 or HTTP/1.1";
  if (error == http::error::bad_content_length) {
    return "Content-Length has to be a number of bytes, which stands there once";
  }
  if (error == http::error::bad_transfer_encoding) {
    return "Transfer-Encoding has to stand there once, and without Content-Length";
  }
  if (error == http::error::bad_chunk_extension) {
    return "the words behind the size of a chunk are malformed";
  }
  return error == http::error::bad_value ? "the value of a header is malformed" : error.message();
}

}  // namespace

/// The calls of the parser; it keeps nothing but the reader's. An error ends the parsing.
class RequestReader::Parser final : public http::basic_parser<true> {
 public:
  explicit Parser(RequestReader& reader) : reader_(reader) {
    // The reader's own bounds are looked at before the parser is given anything.
    header_limit(std::numeric_limits<std::uint32_t>::max());
    body_limit(std::numeric_limits<std::uint64_t>::max());
  }
  int version() const { return version_; }
  http::verb method() const { return method_; }
  /// Takes whole lines, or bytes of the body.
  ErrorCode put_all(std::string_view bytes) {
    const bool is_first_line = version_ == 0;
    ErrorCode error;
    const std::size_t used = put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    if (is_first_line && error == http::error::need_more) {
      // It asks for the fields, or misses the version's end.
      error = {};
      if (version_ == 0) error = http::error::bad_version;
    }
    // All that it is given it has to take.
    if (!error && used < bytes.size()) error = http::error::bad_value;
    return error;
  }

 private:
  void on_request_impl(http::verb method, Text words, Text target, int version,
                       ErrorCode& error) override {
    version_ = version;
    method_ = method;
    if (method == http::verb::unknown) {
      error = http::error::bad_method;
    } else if (target.size() > reader_.limits_.max_target) {
      reader_.fail(414, "the request's target is too long");
    } else if (!is_target(view(target), method)) {
      error = http::error::bad_target;
    }
    reader_.request_.head.method = view(words);
    reader_.request_.head.target = view(target);
    end_if_failed(error);
  }
  void on_response_impl(int, Text, int, ErrorCode&) override {}
  void on_field_impl(http::field, Text name, Text value, ErrorCode& error) override {
    reader_.take_field(view(name), view(value));
    end_if_failed(error);
  }
  void on_header_impl(ErrorCode&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(Text bytes, ErrorCode& error) override { return take(bytes, error); }
  void on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text bytes, ErrorCode& error) override {
    return take(bytes, error);
  }
  void on_finish_impl(ErrorCode&) override {}

  std::size_t take(Text bytes, ErrorCode& error) {
    std::string& body = reader_.request_.body;
    // Written as a difference: the sum could overflow.
    if (bytes.size() > reader_.limits_.max_body - body.size()) {
      reader_.fail(413, "the body is too large");
    } else {
      body.append(bytes.data(), bytes.size());
    }
    end_if_failed(error);
    return bytes.size();
  }
  void end_if_failed(ErrorCode& error) const {
    if (reader_.fault_status_ != 0 && !error) error = http::error::bad_value;
  }

  RequestReader& reader_;
  int version_ = 0;
  http::verb method_ = http::verb::unknown;
};

RequestReader::RequestReader(Limits limits) : limits_(limits) {
  reset();
}

RequestReader::~RequestReader() = default;

void RequestReader::reset() {
  parser_ = std::make_unique<Parser>(*this);
  request_ = {};
  frame_.reset();
  part_.clear();
  coding_.clear();
  length_.reset();
  header_bytes_ = 0;
  seen_ = 0;
  is_coded_ = upgrades_ = head_done_ = whole_ = expects_continue_ = keep_alive_ = false;
  fault_status_ = 0;
}

/// O(bytes). Not all of them are used up when the head or the request ends; the caller feeds the
/// rest again.
RequestReader::Progress RequestReader::feed(std::string_view bytes) {
  std::size_t used = 0;
  while (!whole_ && used < bytes.size()) {
    const std::size_t most = most_of_lines();
    // One byte more than may come tells that there are too many, however they are cut.
    const FrameCheck::Looked looked = frame_.look(bytes.substr(used), most + 1 - part_.size());
    const std::string_view piece = bytes.substr(used, looked.used);
    used += looked.used;
    if (!looked.fault.empty()) {
      fail(400, looked.fault);
    } else if (looked.cut != FrameCheck::Cut::data && part_.size() + piece.size() > most) {
      fail_too_long();
    } else {
      take(looked.cut, piece);
    }
    if (fault_status_ != 0) return {Event::fault, used};
    if (looked.cut == FrameCheck::Cut::head) return {Event::head, used};
  }
  return {whole_ ? Event::whole : Event::more, used};
}

/// Of what is kept until its end comes: the first line, the header fields, or what stands between
/// two chunks.
std::size_t RequestReader::most_of_lines() const {
  return parser_->version() == 0 ? limits_.max_target + kBytesBesideTarget
                                 : limits_.max_header + kBytesBesideFields;
}

void RequestReader::fail_too_long() {
  if (parser_->version() == 0) {
    fail(414, "the request's target is too long");
  } else {
    fail(431, "the request's header fields are too large");
  }
}

void RequestReader::take(FrameCheck::Cut cut, std::string_view piece) {
  using Cut = FrameCheck::Cut;
  std::string gathered;
  if (!part_.empty() || cut == Cut::none) {
    part_ += piece;
    if (cut == Cut::none) return;
    gathered = std::exchange(part_, {});
    piece = gathered;
  }
  if (cut == Cut::nothing) return count_header(piece.size());
  if (const ErrorCode error = parser_->put_all(piece)) return fail(400, words_for(error));
  if (cut == Cut::head) end_head();
  if (cut == Cut::data && length_ == request_.body.size()) whole_ = true;
  if (cut == Cut::last_chunk) {
    // Trailers may say that the connection closes.
    keep_alive_ = keep_alive_ && parser_->keep_alive();
    whole_ = true;
  }
}

Response RequestReader::fault() const {
  return error_response(fault_status_, fault_status_ == 400
                                           ? fmt::format("this is not HTTP: {}", fault_message_)
                                           : fault_message_);
}

void RequestReader::fail(int status, std::string_view message) {
  // The first fault is told: later ones may come of it.
  if (fault_status_ != 0) return;
  fault_status_ = status;
  fault_message_ = message;
}

void RequestReader::count_header(std::size_t bytes) {
  header_bytes_ += bytes;
  if (header_bytes_ > limits_.max_header) fail_too_long();
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

void RequestReader::take_field(std::string_view name, std::string_view value) {
  count_header(name.size() + value.size() + kBytesPerHeaderLine);
  // Trailers after a chunked body count against the limit but change no head.
  if (head_done_) return;
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
  for (const Known& each : kKnown) {
    if (equal_ignoring_case(name, each.name) && is_first(each.field, each.name)) {
      request_.head.*each.value = value;
    }
  }
  if (equal_ignoring_case(name, "expect")) {
    expects_continue_ = equal_ignoring_case(value, "100-continue");
  } else if (equal_ignoring_case(name, "upgrade")) {
    upgrades_ = true;
  } else if (equal_ignoring_case(name.substr(0, kCoding.size()), kCoding)) {
    // A longer name is not one of HTTP's: a careless reader sees chunks where others do not.
    if (name.size() > kCoding.size() || !ends_plainly(value)) {
      fail(400, "Transfer-Encoding is malformed");
    }
    coding_ += coding_.empty() ? "" : ",";
    coding_ += value;
    is_coded_ = true;
  } else if (equal_ignoring_case(name, "content-length") &&
             is_first(Single::length, "Content-Length")) {
    check_length(value);
  }
}

/// The parser takes a list of equal lengths.
void RequestReader::check_length(std::string_view value) {
  if (value.empty() || !ends_plainly(value) || !std::ranges::all_of(value, is_digit)) {
    fail(400, "Content-Length has to be a number of bytes");
  }
}

void RequestReader::end_head() {
  const auto length = parser_->content_length();
  if (length) length_ = *length;
  check_head();
  // After an upgrade the bytes are of another protocol: no request follows.
  const bool is_tunnel = parser_->method() == http::verb::connect;
  keep_alive_ = parser_->keep_alive() && !(upgrades_ && parser_->upgrade()) && !is_tunnel;
  head_done_ = true;
  if (is_coded_) {
    frame_.expect_chunks();
  } else {
    frame_.expect_body(length_.value_or(0));
  }
  whole_ = is_tunnel || (!is_coded_ && length_.value_or(0) == 0);
}

/// Rules over several fields. The parser refuses Content-Length beside chunks.
void RequestReader::check_head() {
  if (parser_->version() != kVersion10 && request_.head.host.empty()) {
    fail(400, "the header Host is missing or empty");
  }
  if (is_coded_) check_coding();
}

/// Where chunks are not the last coding, or are put into chunks once more, the end of the body is
/// not known.
void RequestReader::check_coding() {
  if (length_) fail(400, "Content-Length and Transfer-Encoding exclude each other");
  const std::vector<std::string_view> codings = words_of(coding_);
  const auto is_chunked = [](std::string_view word) {
    return equal_ignoring_case(word, "chunked");
  };
  if (parser_->version() == kVersion10) fail(400, "HTTP/1.0 has no Transfer-Encoding");
  if (!is_chunked(codings.back()) || codings.front().empty() ||
      std::ranges::count_if(codings, is_chunked) != 1) {
    fail(400, "Transfer-Encoding has to end with chunked, which stands there once");
  } else if (codings.size() > 1) {
    fail(501, "the only transfer coding that is understood is chunked");
  }
}

}  // namespace muster::api
