#include "workers/process/keeper/socket_check.hpp"

#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/workers/process/keeper/tiny_server.hpp"

namespace muster::process {
namespace {

using test::IsGolden;
using test::TinyServer;

/// How the check comes out; "(open)" when the server has said all and it waits for more.
std::string outcome_of(TinyServer& server, SocketCheck check) {
  constexpr int kRounds = 2000;
  int idle = 0;
  for (int i = 0; i < kRounds && idle < 20; ++i) {
    if (const auto failure = check.go_on()) return *failure;
    server.serve();
    pollfd polled = check.waits_for();
    if (poll(&polled, 1, 1) == 0) ++idle;
  }
  return "(open)";
}

std::string outcome_of_answer(const std::string& answer) {
  TinyServer server;
  server.answer_by(answer);
  return outcome_of(server, SocketCheck(server.port(), "/healthz"));
}

std::string answer_of(const std::string& status) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: 5\r\n\r\nhello";
}

TEST(SocketCheck, StatusesFrom200To399AreWell) {
  for (const char* status : {"200 OK", "204 No Content", "302 Found", "399 Odd"}) {
    EXPECT_EQ(outcome_of_answer(answer_of(status)), "") << status;
  }
  for (const char* status : {"400 Bad", "404 Not Found", "503 Unavailable"}) {
    EXPECT_THAT(outcome_of_answer(answer_of(status)), IsGolden()) << status;
  }
}

TEST(SocketCheck, TheRequestIsAPlainGet) {
  TinyServer server;
  server.answer_by(answer_of("200 OK"));
  EXPECT_EQ(outcome_of(server, SocketCheck(server.port(), "/a?b=c")), "");
  ASSERT_EQ(server.requests.size(), 1U);
  const std::string& request = server.requests[0];
  EXPECT_TRUE(request.starts_with("GET /a?b=c HTTP/1.1\r\n")) << request;
  const std::string host = "\r\nHost: 127.0.0.1:" + std::to_string(server.port()) + "\r\n";
  EXPECT_NE(request.find(host), std::string::npos) << request;
  EXPECT_NE(request.find("\r\nConnection: close\r\n"), std::string::npos) << request;
}

TEST(SocketCheck, TheHeadIsEnoughWhateverBodyItPromises) {
  EXPECT_EQ(outcome_of_answer("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"), "");
  EXPECT_EQ(outcome_of_answer("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), "");
}

TEST(SocketCheck, AnswersOfStatus1xxArePassedOver) {
  const std::string early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
  EXPECT_EQ(outcome_of_answer(early + early + answer_of("200 OK")), "");
  EXPECT_NE(outcome_of_answer(early + answer_of("500 No")), "");
}

TEST(SocketCheck, AnythingButHttpHasFailed) {
  EXPECT_THAT(outcome_of_answer("220 smtp\r\n\r\n"), IsGolden());
  EXPECT_THAT(outcome_of_answer("HTTP/1.1 200 OK\r\nContent-Le"), IsGolden());
  std::string endless = "HTTP/1.1 200 OK\r\nA: ";
  endless.append(20'000, 'a');
  EXPECT_THAT(outcome_of_answer(endless), IsGolden());
  std::string hints;
  while (hints.size() < 20'000) hints += "HTTP/1.1 103 Early Hints\r\n\r\n";
  EXPECT_THAT(outcome_of_answer(hints), IsGolden());
}

TEST(SocketCheck, AConnectionThatEndsAtOnceHasFailed) {
  TinyServer server;
  server.hang_up();
  EXPECT_NE(outcome_of(server, SocketCheck(server.port(), "/")), "");
}

TEST(SocketCheck, APortThatNobodyListensOnRefuses) {
  TinyServer other;
  std::uint32_t port = 0;
  {
    const TinyServer gone;
    port = gone.port();
  }
  EXPECT_THAT(outcome_of(other, SocketCheck(port, "")), IsGolden());
  EXPECT_THAT(outcome_of(other, SocketCheck(port, "/")), IsGolden());
}

TEST(SocketCheck, WithoutAPathAConnectionIsEnough) {
  TinyServer server;
  EXPECT_EQ(outcome_of(server, SocketCheck(server.port(), "")), "");
  EXPECT_TRUE(server.requests.empty());
}

TEST(SocketCheck, AServerThatSaysNothingLeavesTheQuestionOpen) {
  TinyServer server;
  EXPECT_EQ(outcome_of(server, SocketCheck(server.port(), "/")), "(open)");
  EXPECT_EQ(server.requests.size(), 1U);
}

}  // namespace
}  // namespace muster::process
