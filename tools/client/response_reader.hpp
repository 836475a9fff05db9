#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "tools/client/transfer.hpp"

namespace muster::client {

/// Reads the answer to one request from the pieces in which it comes. Answers of status 1xx are
/// passed over.
class ResponseReader {
 public:
  explicit ResponseReader(std::size_t max_body_bytes);
  ~ResponseReader();
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
  class Parser;

  void parse(std::string_view bytes);
  bool take_answer();
  void take_end();
  void fail(Outcome outcome, const std::string& reason);

  std::unique_ptr<Parser> parser_;
  HttpReply reply_;
  std::string unread_;  ///< lines whose end has not come
  std::size_t max_body_bytes_;
  bool complete_ = false;
  bool broken_ = false;
  bool keeps_alive_ = false;
};

}  // namespace muster::client
