// Both ways to an API, by sockets and by libcurl, make the same of what a server does.

#include "tools/client/transfer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/fake_server.hpp"

namespace muster::client {
namespace {

using namespace std::chrono_literals;
using muster::test::FakeServer;
using muster::test::reply_of;
using testing::HasSubstr;

/// Whether it is libcurl.
class TransferTest : public testing::TestWithParam<bool> {
 protected:
  TransferTest() {
    options_.token = "secret";
    options_.caller = "ann";
    options_.connect_timeout = 5s;
    options_.max_answer_bytes = 1'000;
  }
  HttpReply perform(const FakeServer& server, const HttpRequest& request) {
    const auto transfer = GetParam() ? curl_transfer(options_) : plain_transfer(options_);
    return transfer->perform(server.api(), request, 20s);
  }
  HttpReply get(const FakeServer& server) { return perform(server, {"/v1/me?a=%20"}); }

  TransferOptions options_;
};
INSTANTIATE_TEST_SUITE_P(Ways, TransferTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "Curl" : "Plain"; });

TEST_P(TransferTest, GivesTheStatusTheHeadersAndTheBody) {
  const FakeServer server({reply_of(418, "body", "X-Mixed:  Case \t\r\n")});
  const HttpReply reply = get(server);
  EXPECT_EQ(reply.outcome, Outcome::answered);
  EXPECT_EQ(reply.status, 418);
  EXPECT_EQ(reply.body, "body");
  EXPECT_EQ(reply.headers.at("x-mixed"), "Case");
  EXPECT_EQ(reply.retry_after, 0s);
  EXPECT_FALSE(reply.distrusted);
}

TEST_P(TransferTest, SaysWhoAsksAndForWhat) {
  const FakeServer server({reply_of(200, "")});
  get(server);
  const std::string request = server.requests().front();
  EXPECT_TRUE(request.starts_with("GET /v1/me?a=%20 HTTP/1.1\r\n")) << request;
  for (const char* line : {"\r\nAuthorization: Bearer secret\r\n", "\r\nMuster-Caller: ann\r\n",
                           "\r\nAccept: application/json\r\n", "\r\nUser-Agent: muster\r\n"}) {
    EXPECT_THAT(request, HasSubstr(line));
  }
  options_.caller.clear();
  get(server);
  EXPECT_THAT(server.requests().back(), Not(HasSubstr("Muster-Caller")));
}

TEST_P(TransferTest, SendsABodyWithItsNumberAndItsMark) {
  const FakeServer server({reply_of(200, "")});
  const std::string body(100'000, 'b');
  EXPECT_EQ(perform(server, {"/v1/jobs", &body, "n-1", 7}).outcome, Outcome::answered);
  const std::string request = server.requests().front();
  EXPECT_TRUE(request.starts_with("POST /v1/jobs HTTP/1.1\r\n"));
  EXPECT_TRUE(request.ends_with("\r\n\r\n" + body));
  for (const char* line : {"\r\nIdempotency-Key: n-1\r\n", "\r\nMuster-Sent: 7\r\n",
                           "\r\nContent-Type: application/json\r\n"}) {
    EXPECT_THAT(request, HasSubstr(line));
  }
  EXPECT_THAT(request, Not(HasSubstr("Expect"))) << "the server would be waited for";
}

TEST_P(TransferTest, KeepsItsConnectionAndAsksTheNextOneAsItIs) {
  const FakeServer server({reply_of(200, "")});
  const auto transfer = GetParam() ? curl_transfer(options_) : plain_transfer(options_);
  const std::string body = "{}";
  transfer->perform(server.api(), {"/a", &body, "n-1", 1}, 20s);
  transfer->perform(server.api(), {"/b"}, 20s);
  EXPECT_EQ(server.connections(), 1);
  EXPECT_TRUE(server.requests().back().starts_with("GET /b HTTP/1.1\r\n"));
  EXPECT_THAT(server.requests().back(), Not(HasSubstr("Idempotency-Key")));
}

TEST_P(TransferTest, TakesNoMoreBytesThanItMay) {
  const FakeServer most({reply_of(200, std::string(1'000, 'x'))});
  EXPECT_EQ(get(most).outcome, Outcome::answered);
  const FakeServer more({reply_of(200, std::string(1'001, 'x'))});
  EXPECT_EQ(get(more).outcome, Outcome::too_large);
}

TEST_P(TransferTest, TellsHowLongTheServerWantsItToWait) {
  for (const auto& [said, wait] : std::map<std::string, Duration>{
           {"7", 7s}, {"0", 0s}, {"86400", 86'400s}, {"86401", 86'400s}, {"soon", 0s}}) {
    const FakeServer server({reply_of(503, "", "Retry-After: " + said + "\r\n")});
    EXPECT_EQ(get(server).retry_after, wait) << said;
  }
}

TEST_P(TransferTest, FollowsNobodyElsewhere) {
  const FakeServer other({reply_of(200, "{}")});
  const FakeServer server({reply_of(302, "", "Location: " + other.api() + "/\r\n")});
  EXPECT_EQ(get(server).status, 302);
  EXPECT_TRUE(other.requests().empty());
}

TEST_P(TransferTest, TellsALostAnswerFromNobody) {
  const FakeServer silent({""});
  const HttpReply lost = get(silent);
  EXPECT_EQ(lost.outcome, Outcome::lost);
  EXPECT_FALSE(lost.reason.empty());
  std::string gone;
  {
    const FakeServer server({""});
    gone = server.api();
  }
  const auto transfer = GetParam() ? curl_transfer(options_) : plain_transfer(options_);
  const HttpReply nobody = transfer->perform(gone, {"/x"}, 20s);
  EXPECT_EQ(nobody.outcome, Outcome::nobody_there);
  EXPECT_THAT(nobody.reason, HasSubstr("onnect")) << "by the system or by libcurl";
}

TEST_P(TransferTest, EndsWhenItIsAskedTo) {
  options_.stop_asked = [] { return true; };
  const FakeServer server({reply_of(200, "")});
  EXPECT_EQ(get(server).outcome, Outcome::stopped);
}

TEST_P(TransferTest, EndsWithinItsLimit) {
  // A body that never comes to its end.
  const FakeServer server({"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"});
  const auto transfer = GetParam() ? curl_transfer(options_) : plain_transfer(options_);
  EXPECT_EQ(transfer->perform(server.api(), {"/x"}, 300ms).outcome, Outcome::lost);
}

}  // namespace
}  // namespace muster::client
