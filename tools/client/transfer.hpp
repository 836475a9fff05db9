#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/time.hpp"

namespace muster::client {

/// One request to an API, as it is tried.
struct HttpRequest {
  std::string path;                   ///< begins with a slash and is escaped
  const std::string* body = nullptr;  ///< null: a GET
  std::string number{};               ///< of a POST: the same whenever it is sent again
  std::int64_t sent = 0;              ///< of a POST: grows with each time that it is sent
};

/// The header lines that say so, without their ends.
std::vector<std::string> repeat_headers(const HttpRequest& request);

/// How one try ended.
enum class Outcome : std::uint8_t {
  answered,
  nobody_there,  ///< nothing listens there, or the address is wrong
  lost,          ///< it was sent, perhaps, and no whole answer came in time
  stopped,       ///< `stop_asked` said so
  too_large,     ///< the answer is larger than allowed
  failed         ///< in a way that another try would not mend
};

/// Outcome of one try.
struct HttpReply {
  Outcome outcome = Outcome::failed;
  long status = 0;
  Duration retry_after{};  ///< as the server asked; 0: it did not
  std::string body;
  std::map<std::string, std::string> headers;  ///< names in small letters
  std::string reason;                          ///< of a try that was not answered
  bool distrusted = false;                     ///< the server's certificate is not trusted
};

/// Options that all requests of a client share.
struct TransferOptions {
  std::string token;
  std::string caller{};  ///< the caller, for tokens without a user; may be empty
  std::string ca{};      ///< file of the authorities that are trusted; empty: the system's
  Duration connect_timeout{};
  std::size_t max_answer_bytes = 0;
  std::function<bool()> stop_asked;  ///< asked while a request is under way; may be empty
};

/// Carries requests to an API and keeps the connection from one to the next.
class Transfer {
 public:
  Transfer() = default;
  virtual ~Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// One try, which ends within `limit`. Failures are told by the reply's outcome.
  virtual HttpReply perform(const std::string& api, const HttpRequest& request, Duration limit) = 0;
};

/// By sockets, for the APIs that `takes_plain` names.
std::unique_ptr<Transfer> plain_transfer(TransferOptions options);
/// Whether the API is spoken to without TLS, at an address 127.x.y.z: then there is no name to look
/// up and no proxy to ask.
bool takes_plain(const std::string& api);

/// By libcurl, for any API. The library is loaded with the first request.
std::unique_ptr<Transfer> curl_transfer(TransferOptions options);

}  // namespace muster::client
