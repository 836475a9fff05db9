#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/expected.hpp"
#include "model/time.hpp"
#include "tools/client/context.hpp"
#include "tools/client/transfer.hpp"

namespace muster::client {

enum class ClientError : std::uint8_t {
  unreachable,   ///< nothing answers
  unanswered,    ///< it was sent, and no answer came in time
  unavailable,   ///< it answered that it cannot at present, for as long as it was tried
  unauthorized,  ///< the token is not accepted
  not_found,
  refused,    ///< understood and not done; the message is the server's
  conflict,   ///< likewise, for the state of what it is about: it is over, say
  malformed,  ///< the answer is not one that docs/api.md knows
  stopped     ///< `stop_asked` said so
};

/// Answer of the API: the document, and its text.
struct Answer {
  std::string text;
  nlohmann::json document;
};

/// An answer that is no document.
struct BytesAnswer {
  std::string bytes;
  std::map<std::string, std::string> headers;  ///< names in small letters
};

/// How patient and how trusting the client is.
struct ApiOptions {
  Duration connect_timeout{std::chrono::seconds{5}};
  Duration request_timeout{std::chrono::seconds{30}};  ///< of one try, at most
  /// Of one try while another API is left that may be asked instead.
  Duration other_api_after{std::chrono::seconds{5}};
  /// From the first try to the end of the last, which has a second at least; 0: one try, for as
  /// long as any.
  Duration retry_for{std::chrono::seconds{30}};
  Duration refused_for{std::chrono::seconds{2}};  ///< likewise, when nothing listens at the address
  Duration first_pause{std::chrono::milliseconds{100}};  ///< between two tries; doubles each time
  Duration longest_pause{std::chrono::seconds{5}};
  std::size_t max_answer_bytes = std::size_t{64} * 1024 * 1024;
  std::string
      caller{};  ///< the caller: owner of jobs that name no user, if the token leaves it open
  /// Waits for that time; false: the client is to give up.
  std::function<bool(Duration)> pause;
  /// Asked during a transfer: true ends it.
  std::function<bool()> stop_asked;
  /// Told once a request when it is tried again, with the reason.
  std::function<void(const std::string&)> on_retry;
};

/// Which other APIs may be asked to make a change when one does not answer: each site knows only
/// the tokens of its own submissions.
enum class Elsewhere : std::uint8_t {
  always,  ///< it names what it changes: making it twice is making it once
  unsent,  ///< it makes something new: only while it has certainly not got through
  never    ///< likewise, and an earlier command may have sent it, to the first API
};

/// Speaks to a cluster's HTTP API (docs/api.md). Every request may be sent twice without harm (each
/// change carries a number of its own), so a request is repeated when the connection fails, the
/// answer is lost, or the status is 429, 502, 503 or 504: with a pause that doubles or that the
/// server asked for (Retry-After), within `retry_for`. Where the cluster has several APIs, the next
/// one is asked then, as far as `Elsewhere` allows it.
class ApiClient {
 public:
  ApiClient(ClusterContext context, ApiOptions options);
  ~ApiClient();
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  /// `path` begins with a slash and is escaped. The document of an answer is a JSON object. So long
  /// as `answered_after` the server is free to wait with its answer.
  Expected<Answer, ClientError> get(const std::string& path, Duration answered_after = {});
  /// As get(), for answers that are not JSON.
  Expected<BytesAnswer, ClientError> get_bytes(const std::string& path);
  /// `number`: of the request, which all its repetitions have; without it one that no other has.
  Expected<Answer, ClientError> post(const std::string& path, const std::string& body,
                                     Elsewhere elsewhere, const std::string& number = {});

  const ApiOptions& options() const { return options_; }

 private:
  struct Request;

  Expected<Answer, ClientError> ask(const Request& request);
  HttpReply perform(const HttpRequest& request, Duration limit);
  Expected<HttpReply, ClientError> try_for_long(const Request& request);
  std::optional<Failure<ClientError>> failure_of(const HttpReply& reply) const;
  Failure<ClientError> give_up(const HttpReply& reply, Duration tried) const;
  Duration limit_of_try(const Request& request, Duration tried, std::size_t others) const;
  /// The API that is asked at present.
  const std::string& api() const { return apis_[current_]; }

  ClusterContext context_;
  ApiOptions options_;
  std::vector<std::string> apis_;
  std::size_t current_ = 0;
  std::unique_ptr<Transfer> plain_;  ///< made when it is needed, like the other
  std::unique_ptr<Transfer> curl_;
};

/// The text as a part of a path or a query.
std::string url_escaped(const std::string& text);

/// A name for a submission that no other one has: 128 random bits in hexadecimal.
std::string random_token();

}  // namespace muster::client
