#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/api/backend.hpp"

namespace muster::api {

/// A request as far as it is known before its body has come.
struct RequestHead {
  std::string method;         ///< "GET"
  std::string target;         ///< path and query as they were sent
  std::string authorization;  ///< that header's value; empty: not sent
  std::string host{};         ///< likewise, of Host
  std::string caller{};       ///< likewise, of Muster-Caller: the caller's name by its own word
  std::string number{};       ///< likewise, of Idempotency-Key: the number of the request
  std::string sent{};         ///< likewise, of Muster-Sent: the number of the try
};

/// A request that has come whole.
struct Request {
  RequestHead head;
  std::string body{};
};

/// An answer; its length and date are added when it is sent.
struct Response {
  int status = 200;
  std::string body{};
  std::string_view content_type = "application/json";
  Headers headers{};  ///< besides those that every response has
};

/// The response that hands an answer of the cluster on. Where a client may try again it says when.
Response to_response(Answer answer);

/// The standard's words for a status; "Unknown" for one that the API never uses.
std::string_view reason_phrase(int status);

/// The words that a status goes by as the code of an error ("not found").
std::string default_code(int status);

/// An error as a response; the code is the status' own.
Response error_response(int status, const std::string& message);

}  // namespace muster::api
