#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "config/job_request.hpp"
#include "tests/serve/served.hpp"
#include "tests/support/golden.hpp"

namespace muster::api {
namespace {

using muster::test::IsGoldenAt;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Api, takes_a_job_and_says_its_number) {
  Served served;
  const RawResponse response =
      served.post("/v1/jobs", R"({"command": ["true"], "tasks": 3, "cpus": 2})");
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(json::parse(response.body), json::parse(R"({"jobs": [{"job": 0}]})"));
  ASSERT_EQ(served.backend.jobs().size(), 1U);
  const Job job = served.backend.jobs().front();
  EXPECT_EQ(job.user, "anonymous");
  EXPECT_EQ(job.tasks.size(), 3U);
  EXPECT_THAT(job.program.argv, ElementsAre("true"));
}

TEST(Api, takes_a_batch_of_ten_thousand_jobs_and_no_more) {
  Served served;
  json batch{{"jobs", json::array()}};
  for (std::size_t i = 0; i < kMaxJobsPerBatch; ++i) {
    batch["jobs"].push_back({{"command", {"true"}}, {"user", "ann"}});
  }
  const RawResponse response = served.post("/v1/jobs", batch.dump());
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(json::parse(response.body)["jobs"].size(), kMaxJobsPerBatch);
  EXPECT_EQ(served.backend.jobs().back().user, "ann");
  batch["jobs"].push_back({{"command", {"true"}}});
  EXPECT_EQ(served.post("/v1/jobs", batch.dump()).status, 422);
  EXPECT_EQ(served.backend.jobs().size(), kMaxJobsPerBatch);
}

TEST(Api, takes_all_the_jobs_of_a_batch_or_none) {
  Served served;
  const RawResponse response = served.post(
      "/v1/jobs", R"({"jobs": [{"command": ["true"]}, {"command": ["true"], "cpus": -1}]})");
  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(message_of(response), HasSubstr("/jobs/1/cpus"));
  EXPECT_TRUE(served.backend.jobs().empty());
}

TEST(Api, bounds_the_tasks_of_a_request) {
  ServerOptions options;
  options.api.max_tasks = 100;
  Served served(options);
  const RawResponse response = served.post(
      "/v1/jobs",
      R"({"jobs": [{"command": ["a"], "tasks": 60}, {"command": ["a"], "tasks": 60}]})");
  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(message_of(response), HasSubstr("at most 100 tasks"));
}

TEST(Api, tells_what_is_no_json_from_what_is_not_valid) {
  Served served;
  EXPECT_EQ(served.post("/v1/jobs", "{\"command\": [").status, 400);
  EXPECT_EQ(served.post("/v1/jobs", "").status, 400);
  EXPECT_EQ(served.post("/v1/jobs", std::string(200'000, '[')).status, 400);
  EXPECT_EQ(served.post("/v1/jobs", "{\"name\": \"\xff\", \"command\": [\"a\"]}").status, 400);
  const RawResponse wrong =
      served.post("/v1/jobs", R"({"command": [], "cpus": "many", "colour": "red"})");
  EXPECT_EQ(wrong.status, 422);
  EXPECT_THAT(message_of(wrong), HasSubstr("cpus"));
  EXPECT_THAT(message_of(wrong), HasSubstr("colour"));
  EXPECT_THAT(message_of(wrong), HasSubstr("command"));
  EXPECT_EQ(served.backend.calls(), 0U);
}

TEST(Api, plans_a_single_job) {
  Served served;
  EXPECT_EQ(served.post("/v1/plan", R"({"command": ["true"]})").status, 200);
  EXPECT_EQ(served.post("/v1/plan", R"({"jobs": [{"command": ["true"]}]})").status, 422);
  EXPECT_TRUE(served.backend.jobs().empty());
}

TEST(Api, hands_on_that_a_cancel_is_not_confirmed_yet) {
  Served served;
  served.backend.answer_with({202, R"({"job": 3, "unconfirmed": ["m1"]})"});
  const RawResponse response = served.post("/v1/jobs/3/cancel");
  EXPECT_EQ(response.status, 202);
  EXPECT_EQ(response.body, R"({"job": 3, "unconfirmed": ["m1"]})");
}

TEST(Api, hands_changes_on) {
  Served served;
  for (const char* target : {"/v1/jobs/12/cancel", "/v1/jobs/12/hold", "/v1/jobs/12/release",
                             "/v1/instances/3/drain", "/v1/instances/3/interrupt"}) {
    EXPECT_EQ(served.post(target).status, 200) << target;
  }
  EXPECT_THAT(served.backend.changes(),
              ElementsAre("cancel 12", "hold 12", "release 12", "drain 3", "interrupt 3"));
}

TEST(Api, hands_filters_on_with_their_defaults) {
  Served served;
  served.get("/v1/jobs");
  EXPECT_EQ(served.backend.last_view().state, JobState::active);
  EXPECT_EQ(served.backend.last_view().limit, 100U);
  served.get("/v1/jobs?state=over&user=ann%20lee+x&limit=7");
  EXPECT_EQ(served.backend.last_view().state, JobState::over);
  EXPECT_EQ(served.backend.last_view().filter.user, "ann lee x");
  EXPECT_EQ(served.backend.last_view().limit, 7U);
  served.get("/v1/cost?by=instance");
  EXPECT_EQ(served.backend.last_view().by, CostBy::instance);
  served.get("/v1/jobs/5/tasks/9/log?stream=err&offset=77&max=10&attempt=2");
  const LogQuery log = served.backend.last_log();
  EXPECT_EQ(log.job, JobId{5});
  EXPECT_EQ(log.index, 9U);
  EXPECT_TRUE(log.error_stream);
  EXPECT_EQ(log.offset, 77U);
  EXPECT_EQ(log.max, 10U);
  EXPECT_EQ(log.attempt, 2U);
}

TEST(Api, hands_on_where_a_page_begins) {
  Served served;
  served.get("/v1/jobs");
  EXPECT_FALSE(served.backend.last_view().after);
  for (const JobCursor& place : {JobCursor{false, {Instant{}, JobId{12}}},
                                 JobCursor{true, {Instant{Duration{9}}, JobId{7}}}}) {
    served.get("/v1/jobs?state=all&after=" + to_text(place));
    EXPECT_EQ(served.backend.last_view().after, place);
  }
  for (const char* path : {"/v1/jobs/5", "/v1/jobs/5/explain"}) {
    served.get(path);
    EXPECT_FALSE(served.backend.last_view().after_task);
    EXPECT_EQ(served.backend.last_view().limit, 1'000U);
    EXPECT_EQ(served.backend.last_view().phase, "");
    served.get(path + std::string("?limit=7&after=0&phase=not%20run"));
    EXPECT_EQ(served.backend.last_view().after_task, 0U);
    EXPECT_EQ(served.backend.last_view().limit, 7U);
    EXPECT_EQ(served.backend.last_view().phase, "not run");
  }
}

TEST(Api, names_the_place_that_is_none) {
  Served served;
  for (const char* wrong :
       {"x", "12", "active:", "active:0:x", "active:0:-1", "active:0:1x", "over", "gone:0:1",
        "over:0:99999999999999999999", "active:9223372036854775808:1", "active:12"}) {
    const RawResponse response = served.get(fmt::format("/v1/jobs?state=all&after={}", wrong));
    EXPECT_EQ(response.status, 422) << wrong;
    EXPECT_THAT(message_of(response), IsGoldenAt("after")) << wrong;
  }
  EXPECT_EQ(served.get("/v1/jobs?state=active&after=over:0:5").status, 422);
  EXPECT_EQ(served.get("/v1/jobs?state=over&after=active:0:5").status, 422);
  const RawResponse tasks = served.get("/v1/jobs/5?limit=0&after=-1&phase=gone");
  EXPECT_EQ(tasks.status, 422);
  for (const char* name : {"limit: ", "after: ", "phase: has to be one of pending"}) {
    EXPECT_THAT(message_of(tasks), HasSubstr(name));
  }
  EXPECT_EQ(served.get("/v1/jobs/5/explain?limit=10001").status, 422);
}

TEST(Api, hands_on_how_long_to_wait_for_a_job) {
  Served served;
  served.get("/v1/jobs/7");
  EXPECT_EQ(served.backend.last_view().wait, Duration::zero());
  served.get("/v1/jobs/7?wait_s=30");
  EXPECT_EQ(served.backend.last_view().wait, std::chrono::seconds{30});
  for (const char* wrong : {"31", "-1", "1.5", "x", ""}) {
    const RawResponse response = served.get(fmt::format("/v1/jobs/7?wait_s={}", wrong));
    EXPECT_EQ(response.status, 422) << wrong;
    EXPECT_THAT(message_of(response), IsGoldenAt("wait_s"));
  }
}

TEST(Api, names_every_parameter_that_is_wrong) {
  Served served;
  const RawResponse response = served.get("/v1/jobs?state=dead&limit=0&limits=3");
  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(message_of(response), IsGoldenAt("state", "limit", "limits"));
  EXPECT_EQ(served.get("/v1/jobs?user=%zz").status, 400);
  EXPECT_THAT(message_of(served.get("/v1/jobs?user=%ff")), IsGoldenAt("user"));
  EXPECT_THAT(message_of(served.get("/v1/jobs?limit=1&limit=2")), IsGoldenAt("limit"));
  EXPECT_EQ(served.get("/v1/jobs?limit=99999999999999999999").status, 422);
  EXPECT_EQ(served.get("/v1/nodes?x=1").status, 422);
}

TEST(Api, wants_a_token_for_everything_but_the_page_and_the_health) {
  Served served;
  for (const char* target :
       {"/v1/jobs", "/v1/status", "/metrics", "/v1/openapi.json", "/nothing"}) {
    for (const char* header :
         {"", "Authorization: Bearer \r\n", "Authorization: Bearer a-token-for-test\r\n",
          "Authorization: Bearer a-token-for-testss\r\n",
          "Authorization: Basic a-token-for-tests\r\n", "Authorization: a-token-for-tests\r\n"}) {
      RawClient client(served.port());
      client.send(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", target, header));
      const RawResponse response = client.receive();
      EXPECT_EQ(response.status, 401) << target << header;
      EXPECT_EQ(response.headers.count("WWW-Authenticate"), 1U);
    }
  }
  for (const char* target :
       {"/healthz", "/", "/app.js", "/ask.js", "/plot.js", "/text.js", "/views.js", "/jobs.js",
        "/task.js", "/pipeline.js", "/instances.js", "/style.css", "/chart.js"}) {
    RawClient client(served.port());
    client.send(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", target));
    EXPECT_EQ(client.receive().status, 200) << target;
  }
  EXPECT_EQ(served.backend.calls(), 0U);
}

TEST(Api, knows_each_of_its_tokens) {
  Served served;
  RawClient client(served.port());
  client.send(
      "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n"
      "Authorization: bearer another-token-for-tests\r\n\r\n");
  EXPECT_EQ(client.receive().status, 200);
  RawClient twice(served.port());
  twice.send(request_text("GET", "/v1/status", {}, "Authorization: Bearer x\r\n"));
  EXPECT_EQ(twice.receive().status, 400);
}

TEST(Api, says_which_methods_a_path_has) {
  Served served;
  const RawResponse wrong = ask(served.port(), "DELETE", "/v1/jobs");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.at("Allow"), "OPTIONS, POST, GET, HEAD");
  EXPECT_EQ(ask(served.port(), "GET", "/v1/jobs/3/cancel").status, 405);
  const RawResponse options = ask(served.port(), "OPTIONS", "/v1/jobs");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.headers.at("Allow"), "OPTIONS, POST, GET, HEAD");
}

TEST(Api, answers_a_head_without_a_body) {
  Served served;
  RawClient client(served.port());
  client.send(request_text("HEAD", "/v1/status") + request_text("GET", "/healthz"));
  const RawResponse head = client.receive(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_GT(std::stoul(head.headers.at("Content-Length")), 100U);
  EXPECT_EQ(client.receive().body, "{\"ok\": true}");
}

TEST(Api, has_nothing_at_other_paths) {
  Served served;
  for (const char* target :
       {"/v1", "/v1/", "/v1/jobs/", "/v1/jobs/x", "/v1/jobs/-1", "/v1/jobs/1/", "/v1//jobs",
        "/v1/jobs/99999999999999999999", "/v1/jobs/18446744073709551615", "/v2/jobs",
        "/../etc/passwd", "/v1/jobs/1/tasks/x/log", "/app.js/", "//"}) {
    EXPECT_EQ(served.get(target).status, 404) << target;
  }
  EXPECT_EQ(served.get("/v1/jobs/1/tasks/4294967296/log").status, 404);
  EXPECT_EQ(served.get("/v1/jobs/1234567").status, 404);
  EXPECT_EQ(served.post("/v1/jobs/1/cancel", "{}").status, 422);
}

TEST(Api, hands_the_clusters_refusals_on_and_says_when_to_come_back) {
  Served served;
  served.backend.answer_with(refusal(409, "over", "job 3 is over"));
  const RawResponse conflict = served.post("/v1/jobs/3/hold");
  EXPECT_EQ(conflict.status, 409);
  EXPECT_EQ(json::parse(conflict.body)["error"]["code"], "over");
  served.backend.answer_with(refusal(503, "no master", "m0 is not \xff there"));
  const RawResponse away = served.get("/v1/status");
  EXPECT_EQ(away.status, 503);
  EXPECT_EQ(away.headers.at("Retry-After"), "1");
  EXPECT_EQ(json::parse(away.body)["error"]["code"], "no master");
  served.backend.answer_with({17, "{}"});
  EXPECT_EQ(served.get("/v1/status").status, 500);
}

TEST(Api, sends_the_page_with_a_policy_that_keeps_it_to_itself) {
  Served served;
  const RawResponse page = served.get("/");
  EXPECT_EQ(page.headers.at("Content-Type"), "text/html; charset=utf-8");
  EXPECT_THAT(page.headers.at("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  EXPECT_THAT(page.headers.at("Content-Security-Policy"), HasSubstr("connect-src 'self'"));
  EXPECT_EQ(page.headers.at("X-Content-Type-Options"), "nosniff");
  EXPECT_THAT(page.body, HasSubstr("<title>Muster</title>"));
  for (const char* target :
       {"/", "/app.js", "/ask.js", "/plot.js", "/text.js", "/views.js", "/jobs.js", "/task.js",
        "/pipeline.js", "/instances.js", "/style.css"}) {
    const std::string body = served.get(target).body;
    EXPECT_EQ(body.find("http"), std::string::npos) << target;
    EXPECT_EQ(body.find("innerHTML"), std::string::npos) << target;
  }
}

TEST(Api, shows_the_clusters_figures_and_its_own) {
  Served served;
  served.get("/v1/nodes");
  served.get("/v1/jobs/7");
  served.get("/nothing");
  const RawResponse response = served.get("/metrics");
  EXPECT_THAT(response.headers.at("Content-Type"), HasSubstr("text/plain"));
  for (const char* line :
       {"muster_cluster_reachable 1\n", "muster_jobs{state=\"running\"} 20\n",
        "muster_jobs{state=\"a\\\"b\\n\"} 1\n", "muster_rounds_total 17\n",
        "# TYPE muster_rounds_total counter\n",
        "muster_decision_seconds_bucket{master=\"m0\",le=\"0.1\"} 5\n",
        "muster_decision_seconds_bucket{master=\"m0\",le=\"+Inf\"} 6\n",
        "muster_http_requests_total{route=\"/v1/nodes\",status=\"200\"} 1\n",
        "muster_http_requests_total{route=\"/v1/jobs/{id}\",status=\"200\"} 1\n",
        "muster_http_requests_total{route=\"\",status=\"404\"} 1\n",
        "muster_http_request_seconds_count 3\n", "muster_http_waiting_requests 1\n"}) {
    EXPECT_THAT(response.body, HasSubstr(line));
  }
  EXPECT_EQ(response.body.find("not a name"), std::string::npos);
}

TEST(Api, shows_its_own_figures_when_the_cluster_is_silent) {
  ServerOptions options;
  options.handle = std::chrono::milliseconds(100);
  Served served(options);
  served.backend.be_silent();
  const RawResponse response = served.get("/metrics");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr("muster_cluster_reachable 0\n"));
  EXPECT_THAT(response.body, HasSubstr("muster_http_connections"));
}

}  // namespace
}  // namespace muster::api
