// Pipelines as somebody sends them who means no good, or has made a mistake: from the text of a
// request through the API's reader and checks into the site's store. Each is refused with a reason
// and nothing of it is taken, or it is taken whole.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/job_request.hpp"
#include "serve/node/actor_backend.hpp"
#include "tests/schedulers/site/actor/site_actor_fixture.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::SiteActorTest;

/// A job of a request, with more members: `"after": ["a"]`.
std::string job(const std::string& name, const std::string& more = {}) {
  return fmt::format(R"({{"command": ["true"], "name": "{}"{}{}}})", name, more.empty() ? "" : ", ",
                     more);
}
std::string jobs(const std::vector<std::string>& all) {
  return fmt::format(R"({{"jobs": [{}]}})", fmt::join(all, ", "));
}
std::string after(const std::string& what) {
  return R"("after": )" + what;
}
/// Two jobs, of which the second waits as it says.
std::string behind(const std::string& what) {
  return jobs({job("a"), job("b", after(what))});
}
/// Each waits for the next one, and the last one for that place.
std::string ring_of(std::size_t count, std::size_t last_waits_for) {
  std::vector<std::string> all;
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t next = i < count ? i + 1 : last_waits_for;
    const std::string waits = next > 0 ? after(fmt::format(R"("#{}")", next)) : "";
    all.push_back(job(fmt::format("j{}", i), waits));
  }
  return jobs(all);
}
std::string numbers(std::size_t count) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(1'000'000 + i);
  return fmt::format("[{}]", fmt::join(all, ", "));
}
/// The body with blanks behind it, of that size.
std::string padded(std::string body, std::size_t bytes) {
  body.resize(bytes, ' ');
  return body;
}

struct Hostile {
  const char* what;
  std::string body;
};

class HostilePipelines : public SiteActorTest {
 protected:
  HostilePipelines() {
    settings_.masters_per_job = 1;
    NodeConfig node;
    node.name = "n0";
    node.site = "tokyo";
    config_.nodes.push_back(node);
    site_ = spawn_site(site_store_);
    system_.run_until_s(0.5);
    ClusterHandles handles;
    handles.own_site = site_;
    handles.sites = {site_};
    handles.connected = [](const std::string&) { return true; };
    backend_.emplace(system_.actors(), config_, std::move(handles), origin_);
  }
  ~HostilePipelines() override {
    backend_.reset();
    system_.end(site_);
  }

  /// As the API does it; the numbers that were given, or why no job was taken.
  std::pair<std::vector<std::uint64_t>, std::string> send(const std::string& body,
                                                          const std::string& user = "ann") {
    auto requests = job_requests_from_json(body, "body");
    if (!requests) return {{}, requests.error().message};
    std::vector<Job> made;
    for (JobRequest& request : requests.value()) {
      if (request.user.empty()) request.user = user;
      made.push_back(make_job(request));
    }
    std::optional<api::Answer> said;
    backend_->submit(std::move(made), [&](api::Answer answer) { said = std::move(answer); });
    run_for_s(5);
    if (!said) return {{}, "no answer"};
    const auto document = nlohmann::json::parse(said->json);
    if (said->status != 201) {
      return {{},
              fmt::format("{}: {}", said->status,
                          document.at("error").at("message").get<std::string>())};
    }
    std::vector<std::uint64_t> given;
    for (const auto& each : document.at("jobs")) given.push_back(each.at("job"));
    return {given, ""};
  }
  std::uint64_t given() const { return site_store_.memory.next_job; }

  ClusterConfig config_;
  SiteActor site_;
  std::optional<ActorBackend> backend_;
};

/// Conditions that are refused.
std::vector<Hostile> wrong_conditions() {
  std::vector<Hostile> all;
  for (const char* wrong : {"null",
                            "true",
                            "0",
                            "-1",
                            "1.5",
                            "1e30",
                            "{}",
                            R"({"job": 1})",
                            R"("")",
                            R"(",,")",
                            R"(["a", null])",
                            R"([["a"]])",
                            R"(":any")",
                            R"("#0")",
                            R"("#-1")",
                            R"("# 1")",
                            R"("#1x")",
                            R"("##1")",
                            R"("#3")",
                            R"("#99999")",
                            R"("#10000")",
                            R"("a:maybe")",
                            R"("999:soon")",
                            R"("999:ANY")",
                            R"("18446744073709551616")",
                            R"("A")",
                            R"("\u0000")",
                            R"("a\u202e")",
                            R"("\ud800")",
                            R"("é")",
                            R"(["b"])",
                            R"(["b:any"])",
                            R"(["#2:fail", "a"])"}) {
    all.push_back({wrong, behind(wrong)});
  }
  return all;
}

std::vector<Hostile> wrong_graphs() {
  const std::string twice = job("b", R"("after": "a", "after": "b")");
  return {
      {"a job that waits for itself", jobs({job("a", after(R"("a")"))})},
      {"a lone job that waits for itself", job("a", after(R"("#1:any")"))},
      {"a circle of two", jobs({job("a", after(R"("b")")), job("b", after(R"("a:any")"))})},
      {"a circle of 10,000", ring_of(10'000, 1)},
      {"a circle at the end of a chain", ring_of(1'000, 999)},
      {"a name that is a number", jobs({job("12"), job("b", after(R"("12")"))})},
      {"a name that is a number with noughts", jobs({job("007"), job("b", after(R"("007")"))})},
      {"two equal names", jobs({job("a"), job("a"), job("b", after(R"("a")"))})},
      {"a name with a condition at its end", jobs({job("a:any"), job("b", after(R"("a:any")"))})},
      {"two forms of one letter", jobs({job("e\u0301"), job("b", after(R"("é")"))})},
      {"the key twice", jobs({job("a"), twice})},
      {"1,001 conditions", jobs({job("a"), job("b", after(numbers(1'001)))})},
      {"251 jobs of other requests", jobs({job("a"), job("b", after(numbers(251)))})},
      {"a text of 100,000 bytes", behind('"' + std::string(100'000, 'x') + '"')},
      {"10,001 jobs", ring_of(10'001, 0)},
      {"8 MiB and a byte", padded(behind(R"("a")"), kMaxBatchBytes + 1)},
      {"100,000 lists in each other",
       behind(std::string(100'000, '[') + std::string(100'000, ']'))},
      {"jobs that are no list", R"({"jobs": {}})"},
      {"no jobs", R"({"jobs": []})"},
      {"a member beside the jobs", R"({"jobs": [{"command": ["true"]}], "after": "1"})"},
      {"half a request", R"({"jobs": [{"command": ["true"])"},
      {"no text", jobs({job("\xff\xfe")})},
      {"a name that is turned around", jobs({job("\\u202ea")})},
      {"a job of another user", jobs({job("a", R"("user": "bob")"), job("b", after(R"("a")"))})},
      {"one token for two jobs", jobs({job("a", R"("token": "t")"), job("b", R"("token": "t")")})},
  };
}

std::vector<Hostile> wrong_times() {
  const auto with = [](const char* more) { return jobs({job("a"), job("b", more)}); };
  return {
      {"a deadline before the begin",
       with(R"("begin": "2030-01-02T00:00Z", "deadline": "2030-01-01T00:00Z")")},
      {"a deadline at the begin",
       with(R"("begin": "2030-01-01T00:00Z", "deadline": "2030-01-01T01:00+01:00")")},
      {"a deadline that has passed", with(R"("deadline": "1969-07-20T20:17Z")")},
      {"a deadline in no zone", with(R"("deadline": "2030-01-01T00:00")")},
      {"a deadline from now on", with(R"("deadline": "now+1h")")},
      {"a begin that is no text", with(R"("begin": 7)")},
      {"one that recurs after another", with(R"("after": "a", "every": "@daily")")},
      {"one that recurs and ends", with(R"("every": "@daily", "deadline": "2030-01-01T00:00Z")")},
      {"after one that recurs",
       jobs({job("a", R"("every": "@daily")"), job("b", after(R"("a")"))})},
      {"the zone of each computer", with(R"("every": "@daily", "zone": "localtime")")},
      {"the rules of each computer", with(R"("every": "@daily", "zone": "posixrules")")},
      {"a zone that is a way", with(R"("every": "@daily", "zone": "../../etc/passwd")")},
      {"another word for a failure", with(R"("after": "a", "on_fail": "retry")")},
      {"a failure of nobody", with(R"("on_fail": "keep")")},
      {"a hold that is a text", with(R"("hold": "yes")")},
      {"a service that waits", with(R"("after": "a", "service": {})")},
  };
}

TEST_F(HostilePipelines, AreRefusedWithAReasonAndNothingIsTaken) {
  std::vector<Hostile> all = wrong_conditions();
  for (auto more : {wrong_graphs(), wrong_times()}) all.insert(all.end(), more.begin(), more.end());
  EXPECT_GE(all.size(), 50U);
  const std::uint64_t before = given();
  for (const Hostile& hostile : all) {
    const auto [numbers, why] = send(hostile.body);
    EXPECT_TRUE(numbers.empty()) << hostile.what;
    EXPECT_LT(why.size(), 4'000U) << hostile.what;
    EXPECT_THAT(why, IsGolden()) << hostile.what;
    ASSERT_EQ(given(), before) << hostile.what;
    EXPECT_TRUE(site_store_.memory.handoffs.empty()) << hostile.what;
  }
}

TEST_F(HostilePipelines, MayWaitForNoJobThatIsNotTheirsOrIsNeverOver) {
  const std::uint64_t waits = send(job("w", R"("hold": true)")).first.at(0);
  const std::uint64_t theirs = send(job("t", R"("hold": true)"), "bob").first.at(0);
  const std::uint64_t recurs = send(job("r", R"("every": "@daily")")).first.at(0);
  const std::uint64_t before = given();
  for (const std::uint64_t wrong : {theirs, recurs, std::uint64_t{4'711}}) {
    EXPECT_THAT(send(behind(fmt::format("[{}, {}]", waits, wrong))).second, IsGolden()) << wrong;
    EXPECT_EQ(given(), before) << wrong;
  }
  EXPECT_EQ(send(behind(fmt::format(R"("{}:any")", waits))).first.size(), 2U);
  cancel(site_, recurs);
  run_for_s(5);
  EXPECT_EQ(send(behind(fmt::format(R"("{}:any")", recurs))).first.size(), 2U) << "it is over";
}

TEST_F(HostilePipelines, AreTakenWholeWhereTheyMeanSomething) {
  std::vector<std::string> wide{job("a")};
  for (int i = 0; i < 999; ++i) wide.push_back(job(fmt::format("w{}", i), after(R"("a")")));
  std::vector<std::string> all;
  for (int i = 1; i <= 1'000; ++i) all.push_back(fmt::format(R"("#{}")", i));
  wide.push_back(job("end", after(fmt::format("[{}]", fmt::join(all, ", ")))));
  const std::vector<std::pair<std::string, std::size_t>> fine = {
      {ring_of(10'000, 0), 10'000},
      {jobs(wide), 1'001},
      {padded(behind(R"("a")"), kMaxBatchBytes), 2},
      {jobs({job("naïve 任務 🚀"), job("b", after(R"("naïve 任務 🚀:any")"))}), 2},
      {jobs({job("12:30"), job("b", after(R"("12:30")"))}), 2},
      {jobs({job("a"), job("a"), job("b", after(R"(["#1", "#2:any", "#1"])"))}), 3},
      {jobs({job("a"), job("b", after(R"("a,a:any,a:start")"))}), 2}};
  for (const auto& [body, count] : fine) {
    const auto [numbers, why] = send(body);
    EXPECT_EQ(why, "");
    EXPECT_EQ(numbers.size(), count);
  }
}

TEST_F(HostilePipelines, AreOneWhereTheyComeTwice) {
  const std::string body =
      jobs({job("a", R"("token": "1", "deadline": "1970-01-01T00:01Z", "hold": true)"),
            job("b", R"("token": "2", "after": "a")"), job("b", R"("token": "2", "after": "a")")});
  const auto [first, why] = send(body);
  ASSERT_EQ(first.size(), 3U) << why;
  EXPECT_EQ(first[1], first[2]) << "one token";
  run_for_s(120);
  EXPECT_EQ(send(body).first, first) << "also when its deadline has passed";
  EXPECT_NE(send(jobs({job("a", R"("token": "1")")})).second, "");
}

}  // namespace
}  // namespace muster
