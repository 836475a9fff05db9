#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "serve/api/server.hpp"
#include "tests/serve/fake_backend.hpp"
#include "tests/serve/raw_client.hpp"

namespace muster::api {

/// When all that is tested with these tokens happens, in seconds since 1970.
inline constexpr std::int64_t kTestNow = 1'700'000'000;

/// Two tokens of admins.
inline std::shared_ptr<TokenBook> test_tokens() {
  return TokenBook::in_memory({kToken, "another-token-for-tests"}, [] { return kTestNow; });
}

/// The text of an answer that is an error.
inline std::string message_of(const RawResponse& response) {
  return nlohmann::json::parse(response.body)["error"]["message"];
}

/// A server over a made-up cluster, on a port of its own.
class Served {
 public:
  explicit Served(ServerOptions options = {}) {
    if (!options.tokens) options.tokens = test_tokens();
    auto started = Server::start(backend, options);
    EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message);
    server = std::move(started).value();
  }

  std::uint16_t port() const { return server->port(); }
  RawResponse get(std::string_view target) { return ask(port(), "GET", target); }
  RawResponse post(std::string_view target, std::string_view body = {}) {
    return ask(port(), "POST", target, body);
  }

  FakeBackend backend;
  std::unique_ptr<Server> server;
};

}  // namespace muster::api
