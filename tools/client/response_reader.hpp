#pragma once

#include <http_parser.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "tools/client/transfer.hpp"

namespace muster::client {

/// Reads the answer to one request from the pieces in which it comes. Answers of status 1xx are
/// passed over.
class ResponseReader {
 public:
  explicit ResponseReader(std::size_t max_body_bytes);
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;

  /// Takes what came; an empty piece says that nothing more will.
  void feed(std::string_view piece);

  bool complete() const { return complete_; }
  /// It cannot become an answer any more: see reply().outcome, failed or too_large.
  bool broken() const { return broken_; }
  /// Whether the server leaves the connection open; only once complete.
  bool keeps_alive() const { return keeps_alive_; }
  HttpReply& reply() { return reply_; }

 private:
  struct Callbacks;

  void end_header();

  http_parser parser_{};
  HttpReply reply_;
  std::string name_;   ///< of the header that is being read
  std::string value_;  ///< likewise
  std::size_t max_body_bytes_;
  bool in_value_ = false;
  bool complete_ = false;
  bool broken_ = false;
  bool keeps_alive_ = false;
};

}  // namespace muster::client
