// Requests whose answer was lost, and which are sent again with the number that they had.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/serve/served.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::api {
namespace {

using muster::test::IsGolden;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::string_view kOver = "job 3 is over";

/// Two tokens in a folder, and servers that share it one after the other or at once.
class Repeats : public testing::Test {
 protected:
  std::unique_ptr<Served> serve() {
    ServerOptions options;
    options.tokens = tokens_;
    options.requests = std::make_shared<RequestBook>(
        file_, [this](const std::string& text) { notes_.push_back(text); });
    return std::make_unique<Served>(options);
  }
  /// `sent`: which sending it is; 0: it does not say.
  static RawResponse post(const Served& served, std::string_view path, std::string_view number,
                          std::string_view body = {}, int sent = 0) {
    RawClient client(served.port());
    const std::string mark = sent > 0 ? fmt::format("Muster-Sent: {}\r\n", sent) : std::string();
    client.send(
        request_text("POST", path, body, fmt::format("Idempotency-Key: {}\r\n{}", number, mark)));
    return client.receive();
  }
  bool opens(const RawResponse& issued) {
    const std::string secret = json::parse(issued.body).value("secret", "");
    return tokens_->who("Bearer " + secret).who.has_value();
  }

  const test::TempFile folder_{"unused", ""};
  std::filesystem::path file_ = folder_.folder() / "requests";
  std::shared_ptr<TokenBook> tokens_ = test_tokens();
  std::vector<std::string> notes_;
};

TEST_F(Repeats, of_every_order_are_answered_as_it_was) {
  ASSERT_TRUE(tokens_->create({"ci", Role::user}).has_value());
  const auto served = serve();
  const std::vector<std::string> paths{"/v1/jobs/3/cancel",         "/v1/jobs/3/hold",
                                       "/v1/jobs/3/release",        "/v1/instances/3/drain",
                                       "/v1/instances/3/interrupt", "/v1/tokens/ci/revoke"};
  std::vector<std::string> answers;
  for (const std::string& path : paths) {
    const RawResponse first = post(*served, path, "a" + path);
    EXPECT_EQ(first.status, 200) << path;
    answers.push_back(first.body);
  }
  const std::size_t done = served->backend.changes().size();
  EXPECT_EQ(done, 5U);
  // What they were about is no more.
  served->backend.answer_with(refusal(409, "over", std::string(kOver)));
  ASSERT_TRUE(tokens_->create({"ci", Role::user}).has_value());
  const auto other = serve();
  for (Served* api : {served.get(), other.get()}) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const RawResponse again = post(*api, paths[i], "a" + paths[i]);
      EXPECT_EQ(again.status, 200) << paths[i];
      EXPECT_EQ(again.body, answers[i]) << paths[i];
    }
    if (api == served.get()) {
      EXPECT_THAT(api->backend.changes(), SizeIs(done)) << "and nothing is done once more";
    } else {
      EXPECT_THAT(api->backend.changes(), SizeIs(0)) << "also by another API of the folder";
    }
  }
  EXPECT_EQ(tokens_->list().back().revoked_s, std::nullopt) << "the token that was made anew stays";
  EXPECT_EQ(post(*served, "/v1/jobs/3/cancel", "another").status, 409);
}

TEST_F(Repeats, get_refusals_too_and_what_may_pass_is_tried_again) {
  const auto served = serve();
  served->backend.answer_with(refusal(409, "over", std::string(kOver)));
  EXPECT_EQ(post(*served, "/v1/jobs/3/hold", "n1").status, 409);
  served->backend.answer_with(refusal(503, "unreachable", "not at present"));
  EXPECT_EQ(post(*served, "/v1/jobs/3/hold", "n1").status, 409);
  EXPECT_EQ(post(*served, "/v1/jobs/3/hold", "n2").status, 503);
  served->backend.answer_with({200, R"({"job": 3})"});
  EXPECT_EQ(post(*served, "/v1/jobs/3/hold", "n2").status, 200);
}

TEST_F(Repeats, of_a_cancel_that_nobody_confirmed_in_time_find_the_job_cancelled) {
  const auto served = serve();
  served->backend.answer_with(refusal(503, "unreachable", "not at present"));
  EXPECT_EQ(post(*served, "/v1/jobs/3/cancel", "n1").status, 503);
  // Over, and not by a cancel.
  served->backend.answer_with(refusal(409, "over", std::string(kOver)));
  EXPECT_EQ(post(*served, "/v1/jobs/3/cancel", "n1").status, 409);
  EXPECT_THAT(post(*served, "/v1/instances/9/drain", "n3").body, HasSubstr(kOver));
}

TEST_F(Repeats, with_a_number_of_something_else_are_refused) {
  const auto served = serve();
  EXPECT_EQ(post(*served, "/v1/jobs/3/cancel", "\"n1\"").status, 200);
  EXPECT_EQ(post(*served, "/v1/jobs/3/cancel", "n1").status, 200) << "it is the same in quotes";
  for (const char* path : {"/v1/jobs/4/cancel", "/v1/jobs/3/hold", "/v1/instances/3/drain"}) {
    const RawResponse other = post(*served, path, "n1");
    EXPECT_EQ(other.status, 409) << path;
    EXPECT_THAT(message_of(other), IsGolden()) << path;
  }
  for (const std::string& number :
       {std::string("a b"), std::string(65, 'a'), std::string("\xC3\xA4")}) {
    EXPECT_EQ(post(*served, "/v1/jobs/3/cancel", number).status, 400) << number;
  }
  RawClient client(served->port());
  client.send(request_text("POST", "/v1/jobs/3/cancel", {}, "Muster-Sent: soon\r\n"));
  EXPECT_EQ(client.receive().status, 400);
}

TEST_F(Repeats, that_made_or_rotated_a_token_give_a_secret_that_opens) {
  const auto served = serve();
  const std::string wish = R"({"name": "zoe", "role": "user"})";
  const RawResponse lost = post(*served, "/v1/tokens", "n1", wish, 1);
  EXPECT_EQ(lost.status, 201);
  const RawResponse made = post(*serve(), "/v1/tokens", "n1", wish, 2);
  EXPECT_EQ(made.status, 201);
  EXPECT_FALSE(opens(lost)) << "nobody has seen it";
  EXPECT_TRUE(opens(made));
  EXPECT_EQ(post(*served, "/v1/tokens", "n1", wish, 1).status, 409) << "one that was overtaken";
  EXPECT_EQ(post(*served, "/v1/tokens", "n2", wish).status, 409) << "another one";
  const std::string overlap = R"({"overlap_s": 60})";
  const RawResponse unseen = post(*served, "/v1/tokens/zoe/rotate", "n3", overlap);
  const RawResponse seen = post(*served, "/v1/tokens/zoe/rotate", "n3", overlap);
  EXPECT_EQ(seen.status, 200);
  EXPECT_FALSE(opens(unseen));
  EXPECT_TRUE(opens(seen));
  EXPECT_TRUE(opens(made)) << "the one that everybody has counts on";
}

TEST_F(Repeats, and_changes_of_tokens_that_wait_hold_up_no_other_request) {
  const std::filesystem::path plain = folder_.folder() / "token";
  std::ofstream(plain) << kToken << '\n';
  std::filesystem::permissions(plain, std::filesystem::perms::owner_read);
  const std::filesystem::path named = folder_.folder() / "named";
  tokens_ = TokenBook::open({plain, named}, [] { return kTestNow; }, {}).value();
  const auto served = serve();
  auto other_api = std::make_unique<FileLock>(named);
  // More than the server has threads.
  std::vector<std::unique_ptr<RawClient>> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(std::make_unique<RawClient>(served->port()));
    waiting.back()->send(
        request_text("POST", "/v1/tokens", fmt::format(R"({{"name": "t{}", "role": "user"}})", i)));
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(served->get("/v1/status").status, 200);
    EXPECT_EQ(post(*served, fmt::format("/v1/jobs/{}/hold", i), fmt::format("n{}", i)).status, 200);
  }
  EXPECT_EQ(tokens_->list().size(), 1U) << "none has been made";
  other_api.reset();
  for (const auto& each : waiting) EXPECT_EQ(each->receive().status, 201);
}

TEST_F(Repeats, of_submissions_go_by_the_number_where_there_is_no_token) {
  const auto served = serve();
  post(*served, "/v1/jobs", "n1", R"({"command": ["a"]})");
  post(*served, "/v1/jobs", "n1", R"({"command": ["a"], "token": "t"})");
  post(*served, "/v1/jobs", "n2", R"({"jobs": [{"command": ["a"]}, {"command": ["b"]}]})");
  std::vector<std::string> tokens;
  for (const Job& job : served->backend.jobs()) {
    tokens.push_back(job.token.substr(job.token.find_last_of('\x1e') + 1));
  }
  EXPECT_THAT(tokens,
              ElementsAre(HasSubstr("n1"), HasSubstr("t"), HasSubstr("n2 0"), HasSubstr("n2 1")));
}

TEST_F(Repeats, are_known_of_the_newest_requests_in_files_that_do_not_grow) {
  constexpr std::size_t kLast = RequestBook::kMaxRequests + 2000;
  const TokenDigest asks = digest_of("something");
  const auto book = [&] { return RequestBook(file_, {}); };
  {
    RequestBook first = book();
    for (std::size_t i = 0; i <= kLast; ++i) {
      const std::string number = fmt::format("{:060}", i);
      first.begin({number, asks});
      first.end({number, asks}, {200, std::string(200, 'x')});
    }
    EXPECT_FALSE(first.begin({fmt::format("{:060}", 0), asks}).begun);
  }
  RequestBook second = book();
  EXPECT_TRUE(second.begin({fmt::format("{:060}", kLast), asks}).answer);
  for (const auto& each : std::filesystem::directory_iterator(folder_.folder())) {
    EXPECT_LE(std::filesystem::file_size(each.path()), RequestBook::kMaxFileBytes + 1000);
  }
}

/// Orders of a token, one after the other, from a number on.
void give_orders(RequestBook& book, const std::string& of, std::size_t from, std::size_t until) {
  for (std::size_t i = from; i < until; ++i) {
    const NumberedRequest request{fmt::format("{}-{:050}", of, i), digest_of("something"), of};
    book.begin(request);
    book.end(request, {200, std::string(200, 'x')});
  }
}
bool knows(RequestBook& book, const std::string& of, std::size_t which) {
  const NumberedRequest request{fmt::format("{}-{:050}", of, which), digest_of("something"), of};
  return book.begin(request).answer.has_value();
}

TEST_F(Repeats, of_one_token_are_known_however_many_orders_another_gives) {
  {
    RequestBook first(file_, {});
    give_orders(first, "ann", 0, 100);
    give_orders(first, "eve", 0, RequestBook::kMaxRequests + 6000);
    for (const std::size_t which : {0U, 50U, 99U}) EXPECT_TRUE(knows(first, "ann", which)) << which;
  }
  RequestBook second(file_, {});
  for (const std::size_t which : {0U, 50U, 99U}) {
    EXPECT_TRUE(knows(second, "ann", which)) << which << ", after a restart";
  }
}

TEST_F(Repeats, are_known_to_one_api_when_another_has_moved_the_file_on) {
  RequestBook first(file_, {});
  RequestBook second(file_, {});
  give_orders(first, "ann", 0, 100);
  EXPECT_TRUE(knows(second, "ann", 99));
  const auto moved = [&] { return std::filesystem::exists(file_.string() + ".1"); };
  std::size_t last = 100;
  for (; !moved(); ++last) give_orders(first, "ann", last, last + 1);
  for (std::size_t which = 100; which < last; which += 7) {
    EXPECT_TRUE(knows(second, "ann", which)) << which << " of " << last;
  }
}

TEST_F(Repeats, are_known_in_memory_while_the_disk_takes_nothing) {
  file_ = "/proc/requests";
  const auto served = serve();
  EXPECT_EQ(post(*served, "/v1/jobs/3/cancel", "n1").status, 200);
  served->backend.answer_with(refusal(409, "over", std::string(kOver)));
  EXPECT_EQ(post(*served, "/v1/jobs/3/cancel", "n1").status, 200);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("/proc/requests")));
}

}  // namespace
}  // namespace muster::api
