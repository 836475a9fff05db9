#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/api/backend.hpp"

namespace muster::api {

/// What of a request is known before its body has come.
struct RequestHead {
  std::string method;         ///< "GET"
  std::string target;         ///< path and query as they were sent
  std::string authorization;  ///< that header's value; empty: there was none
  std::string host{};         ///< the same of Host
  std::string caller{};       ///< the same of Muster-Caller: who calls, as the client says
  std::string number{};       ///< the same of Idempotency-Key: which request it is
  std::string sent{};         ///< the same of Muster-Sent: which sending of it
};

/// A request that has come whole.
struct Request {
  RequestHead head;
  std::string body{};
};

/// What goes back; its length and date are added when it is sent.
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
