// Reads HTTP answers by the parser of Boost.Beast, which knows lengths, chunks and answers that end
// with the connection. It takes whole lines: the beginning of one is kept until its end comes.

#include "tools/client/response_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>
#include <optional>

namespace muster::client {
namespace {

namespace http = boost::beast::http;
namespace net = boost::asio;
using ErrorCode = boost::beast::error_code;
using Text = boost::beast::string_view;

constexpr std::size_t kMostHeaders = 100;  // more are not the API's
constexpr std::size_t kMostHeadBytes = std::size_t{80} * 1024;
constexpr std::string_view kBegin = "HTTP/";
constexpr int kFirstFinalStatus = 200;

bool is_number(Text text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

/// The calls of the parser; it keeps nothing but the status. An error ends the parsing.
class ResponseReader::Parser final : public http::basic_parser<false> {
 public:
  explicit Parser(ResponseReader& reader) : reader_(reader) {
    header_limit(kMostHeadBytes);
    body_limit(std::numeric_limits<std::uint64_t>::max());
    eager(true);
  }
  bool has_status() const { return status_.has_value(); }
  int status() const { return status_.value_or(0); }

 private:
  void on_request_impl(http::verb, Text, Text, int, ErrorCode&) override {}
  void on_response_impl(int status, Text, int, ErrorCode&) override { status_ = status; }
  void on_field_impl(http::field field, Text name, Text value, ErrorCode& error) override {
    // The parser takes a list of equal lengths, too.
    if (field == http::field::content_length && !is_number(value)) {
      error = http::error::bad_content_length;
    }
    if (reader_.reply_.headers.size() >= kMostHeaders) return;
    std::string key;
    for (const char c : name) {
      // By hand: no letter depends on a locale.
      key += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    reader_.reply_.headers[key] = std::string(value.data(), value.size());
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
    std::string& body = reader_.reply_.body;
    if (body.size() + bytes.size() > reader_.max_body_bytes_) {
      error = http::error::body_limit;
    } else {
      body.append(bytes.data(), bytes.size());
    }
    return bytes.size();
  }

  ResponseReader& reader_;
  std::optional<int> status_;
};

ResponseReader::ResponseReader(std::size_t max_body_bytes)
    : parser_(std::make_unique<Parser>(*this)), max_body_bytes_(max_body_bytes) {}

ResponseReader::~ResponseReader() = default;

void ResponseReader::feed(std::string_view piece) {
  if (complete_ || broken_) return;
  if (piece.empty()) return take_end();
  std::string gathered;
  if (!unread_.empty()) {
    unread_ += piece;
    gathered.swap(unread_);
    piece = gathered;
  }
  parse(piece);
}

/// The parser looks at a first line only once the whole head is there; so it gets that line alone,
/// and whoever is no HTTP server is known by it.
void ResponseReader::parse(std::string_view bytes) {
  while (!bytes.empty()) {
    std::string_view part = bytes;
    const bool is_first_line = !parser_->has_status();
    if (is_first_line) {
      if (!bytes.starts_with(kBegin.substr(0, bytes.size()))) {
        return fail(Outcome::failed, fmt::format("it has to begin with {}", kBegin));
      }
      part = bytes.substr(0, bytes.find('\n') + 1);
    }
    ErrorCode error = http::error::need_more;
    if (!part.empty()) {
      bytes.remove_prefix(parser_->put(net::const_buffer(part.data(), part.size()), error));
    }
    if (error == http::error::body_limit) return fail(Outcome::too_large, {});
    if (error && error != http::error::need_more) return fail(Outcome::failed, error.message());
    if (parser_->is_done()) {
      if (take_answer()) return;
    } else if (is_first_line && !part.empty()) {
      if (!parser_->has_status()) return fail(Outcome::failed, "its first line is too short");
    } else if (error) {
      if (bytes.size() > kMostHeadBytes) return fail(Outcome::failed, "a line is too long");
      break;
    }
  }
  unread_ = bytes;
}

/// False of an answer of status 1xx, behind which the right one comes.
bool ResponseReader::take_answer() {
  if (parser_->status() < kFirstFinalStatus) {
    reply_.headers.clear();
    reply_.body.clear();
    parser_ = std::make_unique<Parser>(*this);
    return false;
  }
  // One request has one answer: bytes behind it are not read.
  complete_ = true;
  reply_.outcome = Outcome::answered;
  reply_.status = parser_->status();
  keeps_alive_ = parser_->keep_alive();
  return true;
}

/// With the end of the connection the answer is only cut off; else it is malformed.
void ResponseReader::take_end() {
  if (!parser_->got_some()) {
    if (!unread_.empty()) fail(Outcome::lost, "it ends within its first line");
    return;
  }
  ErrorCode error;
  parser_->put_eof(error);
  if (error) return fail(Outcome::lost, error.message());
  if (take_answer()) keeps_alive_ = false;
}

void ResponseReader::fail(Outcome outcome, const std::string& reason) {
  broken_ = true;
  reply_.outcome = outcome;
  if (!reason.empty()) reply_.reason = fmt::format("the answer is not HTTP: {}", reason);
}

}  // namespace muster::client
