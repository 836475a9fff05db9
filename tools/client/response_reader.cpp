// Reads HTTP answers by http_parser, which knows lengths, chunks and answers that end with the
// connection.

#include "tools/client/response_reader.hpp"

#include <fmt/format.h>

#include <utility>

namespace muster::client {
namespace {

constexpr std::size_t kMostHeaders = 100;  // more are not the API's
constexpr unsigned kFirstFinalStatus = 200;

}  // namespace

/// What the parser calls; it has no state but the reader's. A result other than 0 ends the parsing.
struct ResponseReader::Callbacks {
  static ResponseReader& reader(http_parser* parser) {
    return *static_cast<ResponseReader*>(parser->data);
  }
  static int on_header_field(http_parser* parser, const char* bytes, std::size_t size) {
    ResponseReader& self = reader(parser);
    if (std::exchange(self.in_value_, false)) self.end_header();
    for (const char c : std::string_view(bytes, size)) {
      // By hand: no letter depends on a locale.
      self.name_ += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return 0;
  }
  static int on_header_value(http_parser* parser, const char* bytes, std::size_t size) {
    ResponseReader& self = reader(parser);
    self.in_value_ = true;
    self.value_.append(bytes, size);
    return 0;
  }
  static int on_headers_complete(http_parser* parser) {
    ResponseReader& self = reader(parser);
    self.in_value_ = false;
    self.end_header();
    return 0;
  }
  static int on_body(http_parser* parser, const char* bytes, std::size_t size) {
    ResponseReader& self = reader(parser);
    if (self.reply_.body.size() + size > self.max_body_bytes_) {
      self.reply_.outcome = Outcome::too_large;
      return 1;
    }
    self.reply_.body.append(bytes, size);
    return 0;
  }
  static int on_message_complete(http_parser* parser) {
    ResponseReader& self = reader(parser);
    if (parser->status_code < kFirstFinalStatus) {
      self.reply_.headers.clear();
      return 0;
    }
    self.complete_ = true;
    self.reply_.outcome = Outcome::answered;
    self.reply_.status = static_cast<long>(parser->status_code);
    self.keeps_alive_ = http_should_keep_alive(parser) != 0;
    // One request has one answer: whatever comes behind it is not read.
    http_parser_pause(parser, 1);
    return 0;
  }
};

ResponseReader::ResponseReader(std::size_t max_body_bytes) : max_body_bytes_(max_body_bytes) {
  http_parser_init(&parser_, HTTP_RESPONSE);
  parser_.data = this;
}

void ResponseReader::end_header() {
  if (!name_.empty() && reply_.headers.size() < kMostHeaders) {
    const std::size_t last = value_.find_last_not_of(" \t");
    reply_.headers[name_] = last == std::string::npos ? "" : value_.substr(0, last + 1);
  }
  name_.clear();
  value_.clear();
}

void ResponseReader::feed(std::string_view piece) {
  http_parser_settings settings{};
  settings.on_header_field = &Callbacks::on_header_field;
  settings.on_header_value = &Callbacks::on_header_value;
  settings.on_headers_complete = &Callbacks::on_headers_complete;
  settings.on_body = &Callbacks::on_body;
  settings.on_message_complete = &Callbacks::on_message_complete;
  http_parser_execute(&parser_, &settings, piece.data(), piece.size());
  const http_errno error = HTTP_PARSER_ERRNO(&parser_);
  if (complete_ || error == HPE_OK) return;
  broken_ = true;
  // With the end of the connection the answer is only cut off; else it is none.
  if (reply_.outcome != Outcome::too_large) {
    reply_.outcome = piece.empty() ? Outcome::lost : Outcome::failed;
    reply_.reason = fmt::format("the answer is not HTTP: {}", http_errno_description(error));
  }
}

}  // namespace muster::client
