// What the server makes of bytes that are HTTP, nearly HTTP, or another reader's HTTP: all of it
// through the socket, whatever reads them behind it (RFC 9110 and 9112).

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/serve/served.hpp"

namespace muster::api {
namespace {

/// Bytes that are sent on a connection of their own, and the statuses of what comes back.
struct Case {
  std::string sent;
  std::vector<int> statuses;
};

std::string get(std::string_view target, std::string_view fields) {
  return fmt::format("GET {} HTTP/1.1\r\nAuthorization: Bearer {}\r\n{}\r\n", target, kToken,
                     fields);
}

/// A submission of one job, whose body is said by these fields to be `body`.
std::string post(std::string_view fields, std::string_view body) {
  return request_text("POST", "/v1/jobs", {}, fields) + std::string(body);
}

constexpr std::string_view kJob = R"({"command":["x"]})";  // 17 bytes
constexpr std::string_view kHost = "Host: localhost\r\n";

std::string chunked(std::string_view body) {
  return post("Transfer-Encoding: chunked\r\n", body);
}

std::string with_field(std::string_view field) {
  return get("/v1/status", fmt::format("{}{}\r\n", kHost, field));
}

class Http : public testing::Test {
 protected:
  void expect_all(const std::vector<Case>& cases) {
    for (const Case& each : cases) {
      RawClient client(served_.port());
      client.send(each.sent);
      client.finish_sending();
      for (const int status : each.statuses) {
        EXPECT_EQ(client.receive().status, status) << testing::PrintToString(each.sent);
      }
      EXPECT_TRUE(client.closed()) << testing::PrintToString(each.sent);
    }
    EXPECT_EQ(served_.get("/healthz").status, 200);
  }
  std::size_t jobs() { return served_.backend.jobs().size(); }

  Served served_;
};

TEST_F(Http, has_names_of_fields_up_to_their_colon) {
  expect_all({{with_field("X-One: 1"), {200}},
              {with_field("x.!#$%&'*+-^_`|~9:1"), {200}},
              {with_field("X-One:"), {200}},
              {with_field("X-One : 1"), {400}},
              {with_field("X-One\t: 1"), {400}},
              {with_field("X One: 1"), {400}},
              {with_field("X(One): 1"), {400}},
              {with_field("X-\xC3\xA4: 1"), {400}},
              {with_field(": 1"), {400}},
              {with_field("X-One"), {400}},
              {with_field(" X-One: 1"), {400}},
              {post("Content-Length : 17\r\n", kJob), {400}},
              {get("/v1/status", "Host : localhost\r\n"), {400}},
              {get("/v1/status", fmt::format("{}Authorization : Bearer x\r\n", kHost)), {400}},
              {post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"), {400}}});
}

TEST_F(Http, names_one_host) {
  std::vector<Case> cases{{get("/v1/status", ""), {400}},
                          {get("/v1/status", "Host:\r\n"), {400}},
                          {get("/v1/status", "Host:  \r\n"), {400}},
                          {get("/v1/status", "Host: localhost\r\nHost: localhost\r\n"), {400}},
                          {get("/v1/status", "Host:\r\nHost: localhost\r\n"), {400}},
                          {get("/v1/status", "Host: localhost\r\nHost:\r\n"), {400}},
                          {"GET /healthz HTTP/1.0\r\n\r\n", {200}}};
  for (const char* host : {"localhost", "localhost:", "localhost:7", "[::1]", "[::1]:", "[::1]:7",
                           "127.0.0.1", "LOCALHOST.:7"}) {
    cases.push_back({get("/v1/status", fmt::format("Host: {}\r\n", host)), {200}});
  }
  for (const char* host : {"[::1]evil.com",
                           "[::1].evil.com",
                           "[::1]:7evil.com",
                           "[::1",
                           "[]",
                           "[localhost]",
                           "[127.0.0.1]",
                           "::1",
                           "localhost:7evil.com",
                           "localhost:7:8",
                           "localhost:evil.com",
                           ":7",
                           "localhost@evil.com",
                           "evil.com@localhost",
                           "evil.com",
                           "localhost evil.com",
                           "localhost,evil.com",
                           "localhost/evil.com",
                           "127.0.0.1.evil.com",
                           "[::1]@evil.com:7"}) {
    cases.push_back({get("/v1/status", fmt::format("Host: {}\r\n", host)), {421}});
  }
  expect_all(cases);
}

TEST_F(Http, ends_lines_with_both_characters) {
  const std::string good = with_field("X: 1");
  std::string feeds = good;
  std::erase(feeds, '\r');
  std::vector<Case> cases{{good, {200}},
                          {"\r\n\r\n" + good, {200}},
                          {feeds, {400}},
                          {"GET /healthz HTTP/1.1\nHost: localhost\r\n\r\n", {400}},
                          {get("/healthz", "Host: localhost\nX: 1\r\n"), {400}},
                          {get("/healthz", "Host: localhost\rX: 1\r\n"), {400}},
                          {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\n", {400}},
                          {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\rX", {400}},
                          // A field that goes on in another line.
                          {with_field("X: 1\r\n 2"), {400}},
                          {with_field("X: 1\r\n\t2"), {400}},
                          {get("/v1/status", "Host: local\r\n host\r\n"), {400}},
                          {post("Content-Length: 1\r\n 7\r\n", kJob), {400}},
                          {"GET  /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", {400}},
                          {"GET /healthz HTTP/1.1 \r\nHost: localhost\r\n\r\n", {400}},
                          {"GET\t/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", {400}}};
  expect_all(cases);
}

TEST_F(Http, has_no_control_characters_in_its_fields) {
  expect_all({{with_field("X: a\tb"), {200}},
              {with_field("X: \xC3\xA4"), {200}},
              {with_field(std::string("X: a\0b", 6)), {400}},
              {with_field(std::string("X\0: a", 5)), {400}},
              {with_field("X: a\x01"), {400}},
              {with_field("X: a\x1b[1m"), {400}},
              {with_field("X: a\x7f"), {400}},
              {with_field("X: \v"), {400}},
              {std::string("GET /health\0z HTTP/1.1\r\nHost: localhost\r\n\r\n", 43), {400}},
              {with_field("X: " + std::string(100'000, 'a')), {431}},
              {with_field(std::string(100'000, 'a') + ": 1"), {431}}});
}

TEST_F(Http, says_once_how_long_a_body_is) {
  expect_all({{post("Content-Length: 17\r\n", kJob), {201}},
              {post("Content-Length: 0017 \r\n", kJob), {201}},
              {post("Content-Length: 17\r\n", std::string(kJob) + with_field("X: 1")), {201, 200}},
              {post("Content-Length: 17\r\nContent-Length: 17\r\n", kJob), {400}},
              {post("Content-Length: 17\r\nContent-Length: 7\r\n", kJob), {400}},
              {post("Content-Length: 17, 17\r\n", kJob), {400}},
              {post("Content-Length: +17\r\n", kJob), {400}},
              {post("Content-Length: -17\r\n", kJob), {400}},
              {post("Content-Length: 0x11\r\n", kJob), {400}},
              {post("Content-Length: 1 7\r\n", kJob), {400}},
              {post("Content-Length:\r\n", kJob), {400}},
              {post("Content-Length: 18446744073709551633\r\n", kJob), {400}},
              {post("Content-Length: 9000000\r\n", kJob), {413}}});
  EXPECT_EQ(jobs(), 3U) << "and nothing of what was refused has been taken";
}

TEST_F(Http, knows_no_coding_but_chunks) {
  const std::string chunks = "11\r\n" + std::string(kJob) + "\r\n0\r\n\r\n";
  const auto coded = [&](std::string_view fields) { return post(fields, chunks); };
  expect_all({{coded("Transfer-Encoding: chunked\r\n"), {201}},
              {coded("Transfer-Encoding: CHUNKED\r\n"), {201}},
              {coded("Transfer-Encoding: gzip, chunked\r\n"), {501}},
              {coded("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"), {501}},
              {coded("Transfer-Encoding: identity, chunked\r\n"), {501}},
              {coded("Transfer-Encoding: chunked, gzip\r\n"), {400}},
              {coded("Transfer-Encoding: gzip\r\n"), {400}},
              {coded("Transfer-Encoding: identity\r\n"), {400}},
              {coded("Transfer-Encoding: xchunked\r\n"), {400}},
              {coded("Transfer-Encoding: chunked, chunked\r\n"), {400}},
              {coded("Transfer-Encoding: chunked;q=1\r\n"), {400}},
              {coded("Transfer-Encoding: \"chunked\"\r\n"), {400}},
              {coded("Transfer-Encoding:\r\n"), {400}},
              {coded("Transfer-Encoding: chunked\r\nContent-Length: 17\r\n"), {400}},
              {coded("Content-Length: 17\r\nTransfer-Encoding: chunked\r\n"), {400}},
              {coded("Content-Length: 17\r\nTransfer-Encoding: gzip\r\n"), {400}},
              {"POST /v1/jobs HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, {400}}});
  EXPECT_EQ(jobs(), 2U);
}

TEST_F(Http, has_chunks_of_the_size_that_they_say) {
  const std::string job(kJob);
  const std::string end = "\r\n0\r\n\r\n";
  expect_all({{chunked("11\r\n" + job + end), {201}},
              {chunked("0000011;a=\"b\"\r\n" + job + end), {201}},
              {chunked("11\r\n" + job + "\r\n0\r\nX: 1\r\n\r\n"), {201}},
              {chunked("11\r\n" + job + end) + with_field("X: 1"), {201, 200}},
              {chunked("11 \r\n" + job + end), {400}},
              {chunked(" 11\r\n" + job + end), {400}},
              {chunked("0x11\r\n" + job + end), {400}},
              {chunked("-11\r\n" + job + end), {400}},
              {chunked("+11\r\n" + job + end), {400}},
              {chunked("1g\r\n" + job + end), {400}},
              {chunked("\r\n" + job + end), {400}},
              {chunked(";a\r\n" + job + end), {400}},
              {chunked("10000000000000011\r\n" + job + end), {400}},
              {chunked("fffffffffffffffff\r\n" + job + end), {400}},
              {chunked("11\n" + job + end), {400}},
              {chunked("11\rX" + job + end), {400}},
              {chunked("11;a\n" + job + end), {400}},
              {chunked("11\r\n" + job + "XX0\r\n\r\n"), {400}},
              {chunked("11\r\n" + job + "\n0\r\n\r\n"), {400}},
              {chunked("10\r\n" + job + end), {400}},
              {chunked("11\r\n" + job + "\r\n0\r\n\n"), {400}},
              {chunked("11\r\n" + job + "\r\n0\r\n X: 1\r\n\r\n"), {400}},
              {chunked("11\r\n" + job + "\r\n0\r\nX: \x01\r\n\r\n"), {400}}});
  EXPECT_EQ(jobs(), 4U);
}

TEST_F(Http, says_once_who_asks) {
  const std::string token = fmt::format("Authorization: Bearer {}", kToken);
  expect_all({{with_field(token), {400}},
              {with_field("Authorization:"), {400}},
              {with_field("Muster-Caller: ann\r\nMuster-Caller: ben"), {400}},
              {with_field("Muster-Caller:\r\nMuster-Caller: ben"), {400}},
              {with_field("Idempotency-Key: 1\r\nIdempotency-Key: 2"), {400}}});
}

TEST_F(Http, of_the_figures_may_be_asked_with_any_parameters) {
  expect_all({{get("/metrics?x=1&x=2&job=muster", kHost), {200}},
              {get("/metrics?x=%zz", kHost), {400}},
              {get("/v1/status?x=1", kHost), {422}}});
}

}  // namespace
}  // namespace muster::api
