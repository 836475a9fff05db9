#include <curl/curl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "actors/link/pki.hpp"
#include "tests/serve/served.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::api {
namespace {

using muster::test::IsGolden;
using std::chrono::milliseconds;

/// An authority, and a certificate of its for this machine, in a folder that goes away.
class Certificates {
 public:
  Certificates() : folder_("unused", "") {
    EXPECT_TRUE(create_authorities(folder_.folder(), {}).has_value());
    IssueRequest request;
    request.name = "api";
    request.hosts = {"127.0.0.1"};
    auto issued = issue(folder_.folder(), request);
    EXPECT_TRUE(issued.has_value());
    files_ = std::move(issued).value();
  }

  ServerOptions options() const {
    ServerOptions options;
    options.certificate = files_.certificate;
    options.key = files_.key;
    return options;
  }
  std::string authority() const {
    return authority_certificate(folder_.folder(), PkiRole::node).string();
  }
  const TlsFiles& files() const { return files_; }

 private:
  test::TempFile folder_;
  TlsFiles files_;
};

std::size_t take(char* bytes, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(bytes, size * count);
  return size * count;
}

/// The body of a GET; empty when the connection cannot be made, or is not to be trusted.
std::string get(const std::string& url, const std::string& authority) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 curl_easy_cleanup);
  std::string body;
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  if (!authority.empty()) {
    curl_easy_setopt(curl.get(), CURLOPT_CAINFO, authority.c_str());
  }
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, 20L);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &body);
  return curl_easy_perform(curl.get()) == CURLE_OK ? body : std::string();
}

TEST(TlsServer, answers_those_who_trust_its_certificate) {
  const Certificates certificates;
  Served served(certificates.options());
  EXPECT_TRUE(served.server->url().starts_with("https://127.0.0.1:"));
  EXPECT_EQ(get(served.server->url() + "/healthz", certificates.authority()), "{\"ok\": true}");
  EXPECT_GT(get(served.server->url() + "/chart.js", certificates.authority()).size(), 100'000U);
  EXPECT_EQ(get(served.server->url() + "/healthz", ""), "");
}

TEST(TlsServer, ends_connections_that_are_not_tls_or_too_slow) {
  const Certificates certificates;
  ServerOptions options = certificates.options();
  options.read = milliseconds(200);
  Served served(options);
  RawClient odd(served.port());
  odd.send("\x01 no handshake");
  EXPECT_TRUE(odd.closed());
  RawClient silent(served.port());
  EXPECT_TRUE(silent.closed());
}

TEST(TlsServer, tells_who_speaks_plain_http_how_to_ask) {
  const Certificates certificates;
  Served served(certificates.options());
  for (const RawResponse& told : {served.get("/healthz"), served.post("/v1/jobs", "{}")}) {
    EXPECT_EQ(told.status, 400);
    EXPECT_THAT(told.body, testing::HasSubstr("--ca FILE"));
    EXPECT_THAT(told.body, IsGolden());
  }
}

TEST(TlsServer, names_the_file_that_is_not_right) {
  const Certificates certificates;
  FakeBackend backend;
  ServerOptions options = certificates.options();
  options.tokens = test_tokens();
  options.key = certificates.authority();
  const auto started = Server::start(backend, options);
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().code, ServerError::bad_certificate);
  EXPECT_THAT(started.error().message, testing::HasSubstr("node-ca.pem"));
}

}  // namespace
}  // namespace muster::api
