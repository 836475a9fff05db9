// What the client makes of an API's answers: when it asks again, whom, and what it says at the end.

#include "tools/client/api_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "tests/support/fake_server.hpp"
#include "tests/support/golden.hpp"
#include "tools/client/pages.hpp"

namespace muster::client {
namespace {

using namespace std::chrono_literals;
using muster::test::FakeServer;
using muster::test::IsGolden;
using muster::test::reply_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kBusy =
    reply_of(503, R"({"error": {"code": "unavailable", "message": "it learns its numbers"}})");

/// A client that does not really pause.
class ApiClientTest : public testing::Test {
 protected:
  ApiClientTest() {
    options_.pause = [this](Duration length) {
      pauses_.push_back(length);
      return pauses_.size() < most_pauses_;
    };
    options_.on_retry = [this](const std::string& why) { said_.push_back(why); };
    options_.caller = "ann";
  }
  ApiClient client(const FakeServer& server) { return {context(server.api()), options_}; }
  static ClusterContext context(std::string api, std::vector<std::string> others = {}) {
    return {std::move(api), std::move(others), "secret", "the file t"};
  }
  /// The error with what differs each time replaced: ports, and how long was tried.
  static std::string plain(std::string text, const std::vector<std::string>& apis) {
    for (const std::string& api : apis) {
      for (std::size_t at = text.find(api); at != std::string::npos; at = text.find(api)) {
        text.replace(at, api.size(), "{api}");
      }
    }
    return std::regex_replace(text, std::regex("tried for [0-9]+ s"), "tried for {n} s");
  }

  ApiOptions options_;
  std::size_t most_pauses_ = 100;
  std::vector<Duration> pauses_;
  std::vector<std::string> said_;
};

TEST_F(ApiClientTest, GivesTheDocumentAndItsText) {
  const FakeServer server({reply_of(200, R"({"a":  1})")});
  ApiClient api = client(server);
  const auto answer = api.get("/v1/me");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, R"({"a":  1})");
  EXPECT_EQ(answer->document.at("a"), 1);
  EXPECT_TRUE(api.get("/v1/me"));
  EXPECT_EQ(server.connections(), 1) << "a connection is kept";
  const std::string request = server.requests().front();
  for (const char* line : {"GET /v1/me HTTP/1.1\r\n", "\r\nAuthorization: Bearer secret\r\n",
                           "\r\nMuster-Caller: ann\r\n", "\r\nHost: 127.0.0.1:"}) {
    EXPECT_THAT(request, HasSubstr(line));
  }
  EXPECT_THAT(request, testing::Not(HasSubstr("Idempotency-Key")));
}

TEST_F(ApiClientTest, GivesBytesWithTheHeadersInSmallLetters) {
  const FakeServer server({reply_of(200, "\x01\xFF", "Muster-Offset: 7\r\n")});
  const auto answer = client(server).get_bytes("/log");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->bytes, "\x01\xFF");
  EXPECT_EQ(answer->headers.at("muster-offset"), "7");
}

TEST_F(ApiClientTest, KnowsARefusalByItsStatusAndTellsTheReason) {
  const std::string why = R"({"error": {"code": "x", "message": "job 7 is gone"}})";
  for (const auto& [status, code] :
       std::vector<std::pair<int, ClientError>>{{400, ClientError::refused},
                                                {401, ClientError::unauthorized},
                                                {403, ClientError::refused},
                                                {404, ClientError::not_found},
                                                {409, ClientError::conflict},
                                                {422, ClientError::refused},
                                                {500, ClientError::refused},
                                                {302, ClientError::refused}}) {
    const FakeServer server({reply_of(status, why)});
    const auto answer = client(server).get("/v1/jobs/7");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, code) << status;
    EXPECT_THAT(answer.error().message, HasSubstr("job 7 is gone")) << status;
    EXPECT_EQ(server.requests().size(), 1U) << "to ask again would not mend it";
  }
  EXPECT_THAT(pauses_, IsEmpty());
}

TEST_F(ApiClientTest, SaysOfARefusalWithoutAReasonItsStatus) {
  for (const char* body :
       {"", "no JSON", "[]", R"({"error": "x"})", R"({"error": {"message": 1}})"}) {
    const FakeServer server({reply_of(418, body)});
    EXPECT_THAT(plain(client(server).get("/x").error().message, {server.api()}), IsGolden());
  }
}

TEST_F(ApiClientTest, TakesNoAnswerThatIsNoObjectOrTooDeep) {
  const std::string deep = "{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}";
  for (const std::string& body : {std::string("[]"), std::string("<html>"), std::string(), deep}) {
    const FakeServer server({reply_of(200, body)});
    EXPECT_EQ(client(server).get("/x").error().code, ClientError::malformed) << body;
  }
  const std::string flat = "{\"a\":" + std::string(60, '[') + std::string(60, ']') + "}";
  const FakeServer server({reply_of(200, flat)});
  EXPECT_TRUE(client(server).get("/x"));
}

TEST_F(ApiClientTest, TakesNoAnswerThatIsLargerThanAllowed) {
  options_.max_answer_bytes = 10;
  const FakeServer fits({reply_of(200, R"({"a":1234})")});
  EXPECT_TRUE(client(fits).get("/x"));
  const FakeServer larger({reply_of(200, R"({"a":12345})")});
  const auto answer = client(larger).get("/x");
  EXPECT_EQ(answer.error().code, ClientError::malformed);
  EXPECT_THAT(plain(answer.error().message, {larger.api()}), IsGolden());
}

TEST_F(ApiClientTest, AsksAgainWhatMayPassWithPausesThatDouble) {
  for (const int status : {429, 502, 503, 504}) {
    pauses_.clear();
    said_.clear();
    const std::string busy = reply_of(status, R"({"error": {"message": "later"}})");
    const FakeServer server({busy, busy, busy, reply_of(200, "{}")});
    EXPECT_TRUE(client(server).get("/x"));
    EXPECT_THAT(pauses_, ElementsAre(100ms, 200ms, 400ms)) << status;
    ASSERT_THAT(said_, SizeIs(1)) << "it is said once";
    EXPECT_THAT(plain(said_.front(), {server.api()}), IsGolden());
  }
}

TEST_F(ApiClientTest, PausesNoLongerThanItMay) {
  options_.longest_pause = 250ms;
  const FakeServer server({kBusy, kBusy, kBusy, kBusy, reply_of(200, "{}")});
  EXPECT_TRUE(client(server).get("/x"));
  EXPECT_THAT(pauses_, ElementsAre(100ms, 200ms, 250ms, 250ms));
}

TEST_F(ApiClientTest, PausesForAsLongAsTheServerAsks) {
  const std::string asks = reply_of(503, "", "Retry-After: 7\r\n");
  const FakeServer server({asks, kBusy, reply_of(200, "{}")});
  EXPECT_TRUE(client(server).get("/x"));
  EXPECT_THAT(pauses_, ElementsAre(7s, 200ms));
  const FakeServer longer({reply_of(503, "", "Retry-After: 31\r\n")});
  const auto answer = client(longer).get("/x");
  EXPECT_EQ(answer.error().code, ClientError::unavailable);
  EXPECT_EQ(longer.requests().size(), 1U) << "until then the patience is over";
}

TEST_F(ApiClientTest, EndsWhenSomebodyWantsItTo) {
  most_pauses_ = 2;
  const FakeServer server({kBusy});
  EXPECT_EQ(client(server).get("/x").error().code, ClientError::stopped);
  EXPECT_EQ(server.requests().size(), 2U);
  options_.stop_asked = [] { return true; };
  EXPECT_EQ(client(server).get("/x").error().code, ClientError::stopped);
}

TEST_F(ApiClientTest, WithoutPatienceTriesOnce) {
  options_.retry_for = Duration::zero();
  const FakeServer server({kBusy});
  const auto answer = client(server).get("/x");
  EXPECT_EQ(answer.error().code, ClientError::unavailable);
  EXPECT_THAT(plain(answer.error().message, {server.api()}), IsGolden());
  EXPECT_THAT(pauses_, IsEmpty());
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(ApiClientTest, AConnectionThatEndsWithoutAnAnswerIsTriedAgain) {
  const FakeServer server({"", reply_of(200, "{}")});
  EXPECT_TRUE(client(server).get("/x"));
  EXPECT_THAT(pauses_, ElementsAre(100ms));
}

TEST_F(ApiClientTest, AKeptConnectionThatWasClosedMeanwhileIsMadeAnewAtOnce) {
  const FakeServer server({reply_of(200, "{}"), "", reply_of(200, "{}")});
  ApiClient api = client(server);
  EXPECT_TRUE(api.get("/x"));
  EXPECT_TRUE(api.get("/y"));
  EXPECT_THAT(pauses_, IsEmpty());
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(ApiClientTest, AConnectionIsNotKeptWhereTheServerEndsIt) {
  const FakeServer server({reply_of(200, "{}", "Connection: close\r\n")});
  ApiClient api = client(server);
  EXPECT_TRUE(api.get("/x"));
  EXPECT_TRUE(api.get("/y"));
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(ApiClientTest, WhereNothingListensItSaysSo) {
  options_.refused_for = Duration::zero();
  std::string api;
  {
    const FakeServer gone({kBusy});
    api = gone.api();
  }
  ApiClient client(context(api), options_);
  const auto answer = client.get("/x");
  EXPECT_EQ(answer.error().code, ClientError::unreachable);
  EXPECT_THAT(plain(answer.error().message, {api}), IsGolden());
}

TEST_F(ApiClientTest, AChangeHasOneNumberAndAGrowingMarkHoweverOftenItIsSent) {
  const FakeServer server({kBusy, kBusy, reply_of(200, "{}")});
  ASSERT_TRUE(client(server).post("/v1/jobs", "{\"a\":1}", Elsewhere::unsent, "n-1"));
  std::int64_t before = 0;
  ASSERT_THAT(server.requests(), SizeIs(3));
  for (const std::string& request : server.requests()) {
    EXPECT_THAT(request, testing::StartsWith("POST /v1/jobs HTTP/1.1\r\n"));
    EXPECT_THAT(request, HasSubstr("\r\nIdempotency-Key: n-1\r\n"));
    EXPECT_THAT(request, testing::EndsWith("\r\n\r\n{\"a\":1}"));
    const std::string mark = "\r\nMuster-Sent: ";
    const std::int64_t sent = std::stoll(request.substr(request.find(mark) + mark.size()));
    EXPECT_GT(sent, before);
    before = sent;
  }
}

TEST_F(ApiClientTest, ARequestGoesToTheNextApiWhereTheFirstCannot) {
  const FakeServer first({kBusy}), second({reply_of(200, "{}")});
  ApiClient client(context(first.api(), {second.api()}), options_);
  EXPECT_TRUE(client.get("/x"));
  EXPECT_THAT(pauses_, IsEmpty());
  EXPECT_THAT(said_, IsEmpty()) << "another one has answered";
  EXPECT_TRUE(client.get("/y"));
  EXPECT_EQ(first.requests().size(), 1U) << "it stays with the one that answers";
  EXPECT_TRUE(client.post("/z", "{}", Elsewhere::always));
}

TEST_F(ApiClientTest, AChangeThatMayHaveArrivedGoesNowhereElse) {
  most_pauses_ = 2;
  const FakeServer first({kBusy}), second({reply_of(200, "{}")});
  for (const Elsewhere elsewhere : {Elsewhere::unsent, Elsewhere::never}) {
    pauses_.clear();
    ApiClient client(context(first.api(), {second.api()}), options_);
    EXPECT_EQ(client.post("/x", "{}", elsewhere).error().code, ClientError::stopped);
  }
  EXPECT_THAT(second.requests(), IsEmpty());
  ApiClient client(context(first.api(), {second.api()}), options_);
  EXPECT_TRUE(client.post("/x", "{}", Elsewhere::always));
}

TEST_F(ApiClientTest, AChangeThatReachedNobodyGoesElsewhereUnlessItMayHaveGoneBefore) {
  options_.refused_for = Duration::zero();
  const FakeServer second({reply_of(200, "{}")});
  std::string gone;
  {
    const FakeServer server({kBusy});
    gone = server.api();
  }
  ApiClient unsent(context(gone, {second.api()}), options_);
  EXPECT_TRUE(unsent.post("/x", "{}", Elsewhere::unsent));
  ApiClient never(context(gone, {second.api()}), options_);
  const auto answer = never.post("/x", "{}", Elsewhere::never);
  EXPECT_EQ(answer.error().code, ClientError::unreachable);
  EXPECT_THAT(plain(answer.error().message, {gone, second.api()}), IsGolden());
  EXPECT_EQ(second.requests().size(), 1U);
}

// Pages.

std::string page(const std::string& entries, const std::string& rest) {
  return reply_of(200, R"({"jobs": [)" + entries + "]" + rest + "}");
}

class PagesTest : public ApiClientTest {
 protected:
  /// What was asked for, and one document of all that came.
  std::string ask(const FakeServer& server, Pages& pages) {
    std::string text;
    JsonOfPages json(pages.list, [&](const std::string& piece) { text += piece; });
    ApiClient api = client(server);
    const auto failed = each_page(api, pages, [&](const Answer& answer, bool last) {
      json.add(answer, last);
      return std::optional<Failure<ClientError>>{};
    });
    if (failed) return failed->message;
    return text;
  }
  static std::vector<std::string> asked(const FakeServer& server) {
    std::vector<std::string> paths;
    for (const std::string& request : server.requests()) {
      paths.push_back(request.substr(4, request.find(" HTTP") - 4));
    }
    return paths;
  }
};

TEST_F(PagesTest, ThatAreAloneAreLeftAsTheyCame) {
  const FakeServer server({page("1, 2", R"(,  "next": null)")});
  Pages pages{"/v1/jobs?", "jobs", 10};
  EXPECT_EQ(ask(server, pages), R"({"jobs": [1, 2],  "next": null})");
  EXPECT_THAT(asked(server), ElementsAre("/v1/jobs?limit=10"));
  EXPECT_EQ(pages.after, "");
}

TEST_F(PagesTest, AreOneDocumentOfAllEntriesWithTheRestOfTheLast) {
  const FakeServer server({page("1, 2", R"(, "next": "a b", "complete": false, "silent": [{}])"),
                           page("", R"(, "next": 7, "complete": true)"),
                           page("3", R"(, "next": null, "complete": true, "more": 1)")});
  Pages pages{"/v1/jobs?user=ann", "jobs", 2'500};
  const auto all = nlohmann::json::parse(ask(server, pages));
  EXPECT_EQ(all, nlohmann::json::parse(R"({"jobs": [1, 2, 3], "next": null, "complete": false,
                                           "silent": [{}], "more": 1})"));
  EXPECT_THAT(asked(server), ElementsAre("/v1/jobs?user=ann&limit=1000",
                                         "/v1/jobs?user=ann&limit=1000&after=a%20b",
                                         "/v1/jobs?user=ann&limit=1000&after=7"));
}

TEST_F(PagesTest, EndWhereThereAreEnoughAndSayWhereOneCouldGoOn) {
  const FakeServer server({page("1, 2", R"(, "next": "p")"), page("3", R"(, "next": "q")")});
  Pages pages{"/v1/jobs?", "jobs", 3};
  ask(server, pages);
  EXPECT_THAT(asked(server), ElementsAre("/v1/jobs?limit=3", "/v1/jobs?limit=1&after=p"));
  EXPECT_EQ(pages.after, "q");
}

TEST_F(PagesTest, OfANameAreAskedForWholeAndHaveNoOthers) {
  const FakeServer server(
      {page(R"({"name": "a", "n": 1}, {"name": "b"}, {"n": 2}, 3, {"name": "a", "n": 4},
               {"name": "a", "n": 5})",
            "")});
  Pages pages{"/v1/jobs?", "jobs", 2, {}, "a"};
  EXPECT_EQ(nlohmann::json::parse(ask(server, pages)).at("jobs"),
            nlohmann::json::parse(R"([{"name": "a", "n": 1}, {"name": "a", "n": 4}])"));
  EXPECT_THAT(asked(server), ElementsAre("/v1/jobs?limit=1000"));
}

TEST_F(PagesTest, ThatLeadToThemselvesAreNone) {
  const FakeServer server({page("1", R"(, "next": "p")")});
  Pages pages{"/v1/jobs?", "jobs", 5};
  EXPECT_THAT(ask(server, pages), IsGolden());
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(PagesTest, EndWithTheFirstFailure) {
  const FakeServer server({page("1", R"(, "next": "p")"), reply_of(404, "")});
  Pages pages{"/v1/jobs?", "jobs", 5};
  ApiClient api = client(server);
  int used = 0;
  const auto failed = each_page(api, pages, [&](const Answer&, bool last) {
    EXPECT_FALSE(last);
    ++used;
    return std::optional<Failure<ClientError>>{};
  });
  EXPECT_EQ(failed.value().code, ClientError::not_found);
  EXPECT_EQ(used, 1);
}

TEST_F(PagesTest, EndWhereTheirUserHasEnough) {
  const FakeServer server({page("1", R"(, "next": "p")")});
  Pages pages{"/v1/jobs?", "jobs", 5};
  ApiClient api = client(server);
  const auto failed = each_page(api, pages, [](const Answer&, bool) {
    return std::optional(Failure<ClientError>{ClientError::stopped, "enough"});
  });
  EXPECT_EQ(failed.value().message, "enough");
  EXPECT_EQ(server.requests().size(), 1U);
}

}  // namespace
}  // namespace muster::client
