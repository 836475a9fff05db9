#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace muster::api {

inline constexpr const char* kToken = "a-token-for-tests";

struct RawResponse {
  int status = 0;  ///< 0: the connection ended without a response
  std::map<std::string, std::string> headers;
  std::string body;
};

/// A TCP connection that sends bytes as they are. Every wait is bounded.
class RawClient {
 public:
  /// `from`: the loopback address that it comes from.
  explicit RawClient(std::uint16_t port, const char* from = "127.0.0.1");
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// False when the other side takes no more.
  bool send(std::string_view bytes);
  /// The next response; `bodiless`: it is one to a HEAD.
  RawResponse receive(bool bodiless = false);
  /// Whether the other side closes without sending anything more.
  bool closed();
  /// Says that nothing more will be sent.
  void finish_sending();

 private:
  bool more();
  int socket_ = -1;
  std::string unread_;
};

/// A request with the token.
std::string request_text(std::string_view method, std::string_view target,
                         std::string_view body = {}, std::string_view headers = {});

/// Sends one on a connection of its own and takes the response.
RawResponse ask(std::uint16_t port, std::string_view method, std::string_view target,
                std::string_view body = {});

}  // namespace muster::api
