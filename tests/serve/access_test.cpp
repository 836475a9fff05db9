// Who may do what by the API: the name that it is asked by, the token's role, and whose the job is.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "serve/api/host_names.hpp"
#include "serve/api/routes.hpp"
#include "tests/serve/served.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::api {
namespace {

using muster::test::IsGoldenAt;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A server with a token of each role; jobs of even numbers are ann's, the others ben's.
class Access : public testing::Test {
 protected:
  Access() {
    AuditOptions audit;
    audit.file = folder_.folder() / "audit.log";
    ServerOptions options;
    options.tokens = test_tokens();
    options.audit = AuditLog::open(std::move(audit)).value();
    options.hosts = {"api.example.org"};
    user_ = options.tokens->create({"laptop", Role::user, "ann", 600})->secret;
    reader_ = options.tokens->create({"screen", Role::read_only})->secret;
    served_ = std::make_unique<Served>(options);
  }

  RawResponse ask_as(const std::string& secret, std::string_view method, std::string_view target,
                     std::string_view body = {}, std::string_view headers = {}) {
    RawClient client(served_->port());
    const std::string length =
        body.empty() ? std::string() : fmt::format("Content-Length: {}\r\n", body.size());
    client.send(
        fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{}{}"
                    "\r\n{}",
                    method, target, secret, headers, length, body));
    return client.receive();
  }

  std::vector<json> audit() {
    return json::parse(served_->get("/v1/audit?limit=1000").body)["entries"];
  }

  const test::TempFile folder_{"unused", ""};
  std::string user_;
  std::string reader_;
  std::unique_ptr<Served> served_;
};

TEST_F(Access, says_who_a_token_is_of) {
  EXPECT_EQ(json::parse(ask_as(user_, "GET", "/v1/me").body), json({{"token", "laptop"},
                                                                    {"role", "user"},
                                                                    {"user", "ann"},
                                                                    {"expires_s", kTestNow + 600},
                                                                    {"join_port", false}}));
  EXPECT_EQ(json::parse(ask_as(reader_, "GET", "/v1/me").body), json({{"token", "screen"},
                                                                      {"role", "read_only"},
                                                                      {"user", "screen"},
                                                                      {"expires_s", nullptr},
                                                                      {"join_port", false}}));
  EXPECT_EQ(json::parse(served_->get("/v1/me").body), json({{"token", "api-token"},
                                                            {"role", "admin"},
                                                            {"user", "anonymous"},
                                                            {"expires_s", nullptr},
                                                            {"join_port", false}}));
  // The token of the cluster's file acts for whoever calls; one with a user of its own does not.
  const char* caller = "Muster-Caller: carl\r\n";
  EXPECT_EQ(json::parse(ask_as(kToken, "GET", "/v1/me", {}, caller).body)["user"], "carl");
  EXPECT_EQ(json::parse(ask_as(user_, "GET", "/v1/me", {}, caller).body)["user"], "ann");
}

TEST_F(Access, bounds_the_priority_that_a_user_gives_and_not_an_admins) {
  const std::string high = R"({"command": ["true"], "priority": 1})";
  for (const char* target : {"/v1/jobs", "/v1/plan"}) {
    const RawResponse refused = ask_as(user_, "POST", target, high);
    EXPECT_EQ(refused.status, 403) << target;
    EXPECT_THAT(message_of(refused), AllOf(HasSubstr("priority"), HasSubstr("at most 0"),
                                           HasSubstr("api.max_user_priority")));
  }
  EXPECT_TRUE(served_->backend.jobs().empty());
  EXPECT_LT(ask_as(user_, "POST", "/v1/jobs", R"({"command": ["true"], "priority": -5})").status,
            300);
  EXPECT_LT(served_->post("/v1/jobs", R"({"command": ["true"], "priority": 1000000})").status, 300);
}

TEST_F(Access, refuses_a_caller_that_cannot_be_a_users_name) {
  const std::string caller = "Muster-Caller: " + std::string(257, 'c') + "\r\n";
  const RawResponse refused = ask_as(kToken, "GET", "/v1/me", {}, caller);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(message_of(refused), IsGoldenAt("Muster-Caller"));
  EXPECT_EQ(ask_as(user_, "GET", "/v1/me", {}, caller).status, 200) << "it names nobody";
}

/// A path of the pattern about job 3 or instance 3.
std::string path_of(const Route& route) {
  std::string path(route.pattern);
  for (std::size_t at = path.find('{'); at != std::string::npos; at = path.find('{')) {
    path.replace(at, path.find('}') - at + 1, "3");
  }
  return path;
}

TEST_F(Access, gives_each_role_what_the_table_of_routes_says) {
  for (const Route& route : routes()) {
    using enum api::Access;
    const auto refused = [&](const std::string& secret) {
      return ask_as(secret, route.method, path_of(route)).status == 403;
    };
    EXPECT_EQ(refused(reader_),
              route.access == users || route.access == owners || route.access == admins)
        << route.method << " " << route.pattern;
    // Job 3 is not ann's.
    EXPECT_EQ(refused(user_), route.access == owners || route.access == owners_and_readers ||
                                  route.access == admins)
        << route.method << " " << route.pattern;
    EXPECT_FALSE(refused(kToken)) << route.method << " " << route.pattern;
  }
}

TEST_F(Access, lets_users_do_with_their_own_jobs_what_they_may_not_with_others) {
  for (const char* verb : {"cancel", "hold", "release", "resubmit", "scale/2", "restart"}) {
    EXPECT_LT(ask_as(user_, "POST", fmt::format("/v1/jobs/4/{}", verb)).status, 300) << verb;
    const RawResponse refused = ask_as(user_, "POST", fmt::format("/v1/jobs/5/{}", verb));
    EXPECT_EQ(refused.status, 403) << verb;
    EXPECT_THAT(message_of(refused),
                AllOf(HasSubstr("job 5 is one of 'ben'"), HasSubstr("acts for 'ann'")));
  }
  EXPECT_EQ(ask_as(user_, "POST", "/v1/jobs/5/tasks/0/exec").status, 403);
  EXPECT_EQ(ask_as(user_, "POST", "/v1/jobs/5/tasks/0/exec/65537").status, 403);
  EXPECT_EQ(ask_as(user_, "GET", "/v1/jobs/4/tasks/0/log").status, 200);
  EXPECT_EQ(ask_as(user_, "GET", "/v1/jobs/4/explain").status, 200);
  EXPECT_EQ(ask_as(user_, "GET", "/v1/jobs/400/explain").status, 404);
  EXPECT_EQ(ask_as(user_, "GET", "/v1/jobs/5").status, 200);
  EXPECT_THAT(served_->backend.changes(),
              ElementsAre("cancel 4", "hold 4", "release 4", HasSubstr("resubmit 4"), "scale 4 2",
                          "restart 4"));
}

TEST_F(Access, shows_a_user_the_usage_of_the_users_own_tasks) {
  const auto asked_as = [&](const std::string& secret, const char* target) {
    EXPECT_EQ(ask_as(secret, "GET", target).status, 200);
    return served_->backend.last_view().user;
  };
  EXPECT_EQ(asked_as(user_, "/v1/usage"), "ann");
  EXPECT_EQ(asked_as(user_, "/v1/usage?user=ann&job=5"), "ann");
  EXPECT_EQ(asked_as(reader_, "/v1/usage"), "");
  EXPECT_EQ(asked_as(reader_, "/v1/usage?user=ben"), "ben");
  EXPECT_EQ(served_->get("/v1/usage?user=ben").status, 200);
  EXPECT_EQ(served_->backend.last_view().user, "ben");
  EXPECT_EQ(ask_as(user_, "GET", "/v1/usage?user=ben").status, 403);
  for (const char* bad : {"/v1/usage?task=3", "/v1/usage?after=x", "/v1/usage?limit=251"}) {
    EXPECT_EQ(ask_as(user_, "GET", bad).status, 422) << bad;
  }
}

TEST_F(Access, makes_a_users_jobs_the_users_own) {
  EXPECT_EQ(ask_as(user_, "POST", "/v1/jobs", R"({"command": ["a"], "token": "t"})").status, 201);
  EXPECT_EQ(ask_as(user_, "POST", "/v1/jobs", R"({"command": ["a"], "user": "ann"})").status, 201);
  for (const char* target : {"/v1/jobs", "/v1/plan"}) {
    const RawResponse other = ask_as(user_, "POST", target, R"({"command": ["a"], "user": "ben"})");
    EXPECT_EQ(other.status, 403);
    EXPECT_THAT(message_of(other), AllOf(HasSubstr("acts for 'ann'"), HasSubstr("not for 'ben'")));
  }
  const RawResponse mixed =
      ask_as(user_, "POST", "/v1/jobs",
             R"({"jobs": [{"command": ["a"]}, {"command": ["a"], "user": "ben"}]})");
  EXPECT_EQ(mixed.status, 403);
  EXPECT_EQ(served_->post("/v1/jobs", R"({"command": ["a"], "user": "ben", "token": "t"})").status,
            201);
  std::vector<std::string> users;
  for (const Job& job : served_->backend.jobs()) users.push_back(job.user);
  EXPECT_THAT(users, ElementsAre("ann", "ann", "ben"));
  // One token of a submission is two when they come by tokens of different users.
  EXPECT_NE(served_->backend.jobs().at(0).token, served_->backend.jobs().at(2).token);
}

TEST_F(Access, is_over_for_a_token_that_is_revoked_or_has_a_new_secret) {
  const RawResponse rotated = served_->post("/v1/tokens/laptop/rotate", R"({"overlap_s": 0})");
  ASSERT_EQ(rotated.status, 200);
  EXPECT_EQ(ask_as(user_, "GET", "/v1/me").status, 401);
  const std::string secret = json::parse(rotated.body)["secret"];
  EXPECT_EQ(ask_as(secret, "GET", "/v1/me").status, 200);
  EXPECT_EQ(json::parse(served_->post("/v1/tokens/laptop/revoke").body)["state"], "revoked");
  const RawResponse gone = ask_as(secret, "GET", "/v1/me");
  EXPECT_EQ(gone.status, 401);
  EXPECT_EQ(message_of(gone), "the token 'laptop' is revoked");
  EXPECT_EQ(served_->post("/v1/tokens/nobody/revoke").status, 404);
  EXPECT_EQ(served_->post("/v1/tokens/api-token/rotate").status, 409);
}

TEST_F(Access, shows_a_secret_once) {
  const RawResponse made = served_->post(
      "/v1/tokens", R"({"name": "ci", "role": "admin", "user": "carl", "lifetime_s": 60})");
  ASSERT_EQ(made.status, 201);
  const std::string secret = json::parse(made.body)["secret"];
  EXPECT_EQ(ask_as(secret, "GET", "/v1/tokens").status, 200);
  const std::string listed = served_->get("/v1/tokens").body;
  EXPECT_THAT(listed, AllOf(HasSubstr("\"ci\""), HasSubstr("\"carl\"")));
  EXPECT_EQ(listed.find(secret), std::string::npos);
  EXPECT_EQ(served_->post("/v1/tokens", R"({"name": "ci", "role": "user"})").status, 409);
  EXPECT_EQ(served_->post("/v1/tokens", R"({"name": "a b", "role": "user"})").status, 422);
  EXPECT_EQ(served_->post("/v1/tokens", "{").status, 400);
}

TEST_F(Access, is_written_down_where_it_changes_something_or_is_refused) {
  ask_as(user_, "POST", "/v1/jobs", R"({"jobs": [{"command": ["a"]}, {"command": ["b"]}]})");
  ask_as(user_, "POST", "/v1/jobs/5/cancel?x=secret");
  ask_as(user_, "POST", "/v1/jobs/5/cancel");
  ask_as(user_, "GET", "/v1/jobs/5/explain");
  ask_as(user_, "GET", "/v1/jobs");
  ask_as(user_, "POST", "/v1/plan", R"({"command": ["a"]})");
  ask_as(reader_, "POST", "/v1/instances/3/drain");
  ask_as("no-such-token", "GET", "/v1/jobs");
  served_->post("/v1/instances/3/drain");
  served_->post("/v1/tokens", R"({"name": "ci", "role": "user"})");
  std::vector<std::string> lines;
  for (const json& entry : audit()) {
    const auto text = [&](const char* key) {
      return entry[key].is_null() ? std::string("-") : entry[key].get<std::string>();
    };
    EXPECT_EQ(entry["address"], "127.0.0.1");
    EXPECT_EQ(entry["at_s"], kTestNow);
    lines.push_back(fmt::format("{} {} {} {} {} {}", text("token"), text("user"), text("method"),
                                text("path"), entry["status"].dump(), text("about")));
  }
  EXPECT_THAT(lines, ElementsAre("api-token anonymous POST /v1/tokens 201 token ci",
                                 "api-token anonymous POST /v1/instances/3/drain 200 instance 3",
                                 "- - GET /v1/jobs 401 -",
                                 "screen screen POST /v1/instances/3/drain 403 instance 3",
                                 "laptop ann GET /v1/jobs/5/explain 403 job 5",
                                 "laptop ann POST /v1/jobs/5/cancel 403 job 5",
                                 "laptop ann POST /v1/jobs/5/cancel 422 job 5",
                                 "laptop ann POST /v1/jobs 201 job 0 and 1 more"));
}

TEST_F(Access, is_for_those_who_ask_by_a_name_of_the_servers) {
  const auto status = [&](const std::string& host) {
    RawClient client(served_->port());
    client.send(fmt::format("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", host));
    return client.receive().status;
  };
  for (const char* host : {"localhost", "LocalHost.:80", "127.0.0.1", "127.0.0.1:7800", "[::1]:80",
                           "api.example.org", "API.example.org:443"}) {
    EXPECT_EQ(status(host), 200) << host;
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "10.0.0.1", "[fe80::1]",
                           "127.0.0.1.evil.example", "[", "api.example.org.evil"}) {
    EXPECT_EQ(status(host), 421) << host;
  }
  RawClient old(served_->port());
  old.send("GET /healthz HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.receive().status, 200);
  RawClient twice(served_->port());
  twice.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(twice.receive().status, 400);
}

TEST(HostNames, of_a_server_on_all_addresses_are_all_addresses) {
  const HostNames all("0.0.0.0", {});
  EXPECT_TRUE(all.has("10.0.0.7:80"));
  EXPECT_TRUE(all.has("[2001:db8::1]:80"));
  EXPECT_FALSE(all.has("evil.example"));
  const HostNames one("10.0.0.7", {"2001:DB8:0::1"});
  EXPECT_TRUE(one.has("10.0.0.7"));
  EXPECT_TRUE(one.has("[2001:db8::1]"));
  EXPECT_TRUE(one.has("127.0.0.1"));
  EXPECT_FALSE(one.has("10.0.0.8"));
}

}  // namespace
}  // namespace muster::api
