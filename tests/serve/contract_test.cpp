// What the server answers, held against the document that it gives of itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "config/job_request.hpp"
#include "serve/api/log_piece.hpp"
#include "tests/serve/schema.hpp"
#include "tests/serve/served.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::api {
namespace {

using nlohmann::json;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kJob = R"({"command": ["true"], "market": "spot"})";
constexpr const char* kService = R"({"name": "a", "command": ["true"], "service": {}})";

constexpr const char* kToken4 = R"({"name": "4", "role": "user", "lifetime_s": 60})";

json reference(const std::string& name) {
  return {{"$ref", "#/components/schemas/" + name}};
}

/// The document as a client gets it.
json document_of(Served& served) {
  return json::parse(served.get("/v1/openapi.json").body);
}

std::string with_numbers(std::string path, const std::string& number) {
  for (std::size_t brace = path.find('{'); brace != std::string::npos; brace = path.find('{')) {
    path.replace(brace, path.find('}') - brace + 1, number);
  }
  return path;
}

/// The schema that the document gives for a response; what it does not list is a failure.
json schema_for(const json& operation, const RawResponse& response) {
  const std::string status = std::to_string(response.status);
  EXPECT_TRUE(operation["responses"].contains(status)) << status;
  const json& content = operation["responses"][status]["content"];
  const std::string type = response.headers.at("Content-Type");
  const std::string media = type.substr(0, type.find(';'));
  EXPECT_TRUE(content.contains(media)) << media;
  return content.value(media, json{{"schema", json::object()}})["schema"];
}

/// One machine and one join token.
class SomeHosts final : public HostAdmin {
 public:
  Response hosts() override { return {.body = R"({"hosts": [)" + host_ + R"(], "lease_s": 600})"}; }
  Response declare_lost(std::uint64_t /*host*/, const std::string& /*body*/) override {
    return {.body = host_};
  }
  Response remove(std::uint64_t /*host*/, const std::string& /*body*/) override {
    return {.body = host_};
  }
  Response drain(std::uint64_t /*host*/, bool /*drained*/) override { return {.body = host_}; }
  Response label(std::uint64_t /*host*/, const std::string& /*body*/) override {
    return {.body = host_};
  }
  Response join_tokens() override { return {.body = R"({"tokens": [)" + token_ + "}]}"}; }
  Response create_join_token(const std::string& /*body*/) override {
    return {.status = 201, .body = token_ + R"(, "secret": "muster-join-x"})"};
  }
  Response revoke_join_token(const std::string& /*id*/) override { return {.body = token_ + "}"}; }

 private:
  const std::string host_ =
      R"({"host": 3, "name": "box", "type": "box.large", "state": "ready", "drained": false,)"
      R"( "cpus": 2,)"
      R"( "memory_gib": 2, "gpus": 0, "storage_gib": 10, "labels": {"rack": "3"},)"
      R"( "instance": null, "heard_s": 1700000000, "trouble": ""})";
  /// Without its last brace.
  const std::string token_ =
      R"({"id": "0123abcd", "state": "valid", "hosts": 1, "used": 0, "created_s": 1700000000,)"
      R"( "expires_s": 1700003600)";
};

TEST(Contract, every_answer_has_the_shape_that_the_document_gives) {
  const test::TempFile folder("unused", "");
  ServerOptions options;
  options.tokens = test_tokens();
  AuditOptions audit;
  audit.file = folder.folder() / "audit.log";
  options.audit = AuditLog::open(std::move(audit)).value();
  // One to be rotated and one to be revoked.
  ASSERT_TRUE(options.tokens->create({"3", Role::user}).has_value());
  ASSERT_TRUE(options.tokens->create({"5", Role::user}).has_value());
  options.joined = std::make_shared<SomeHosts>();
  FileStoreOptions place;
  place.folder = folder.folder() / "files";
  EXPECT_FALSE(files::make_store(place.folder));
  options.files = std::make_shared<FileStore>(place);
  // Job 3 is ben's.
  const std::string id = options.files->put("ben", {"one"})->front().text();
  Served served(options);
  const json document = document_of(served);
  const SchemaChecker checker(document);
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      std::string body = operation.contains("requestBody") ? kJob : "";
      if (path.starts_with("/v1/tokens")) body = method == "post" ? kToken4 : "";
      if (path.starts_with("/v1/join-tokens")) body = method == "post" ? "{}" : "";
      if (path.ends_with("/rotate")) body = R"({"overlap_s": 60})";
      if (path.ends_with("/revoke")) body = "";
      if (path.ends_with("/update")) body = kService;
      if (path.ends_with("/exec")) body = R"({"argv": ["sh", "-c", "ls"]})";
      if (path.ends_with("/{command}")) body = R"({"max_bytes": 100, "input": "bHM="})";
      if (path.ends_with("/resubmit")) body = R"({"failed": true, "token": "t"})";
      if (path.ends_with("/stages")) body = R"({"tree": ")" + id + R"(", "user": "x"})";
      if (path.ends_with("/contents")) body = method == "post" ? std::string(8, '\0') : "";
      if (path.ends_with("/parts")) body = "one";
      std::string target = with_numbers(path, path.ends_with("/revoke") ? "5" : "3");
      if (path.ends_with("/contents") && method == "get") target += "?id=" + id;
      if (path.ends_with("/parts")) target += "?size=3&id=" + id;
      const RawResponse response =
          ask(served.port(), method == "get" ? "GET" : "POST", target, body);
      EXPECT_LT(response.status, 300) << path;
      const json schema = schema_for(operation, response);
      if (response.headers.at("Content-Type") == "application/json") {
        EXPECT_THAT(checker.faults(json::parse(response.body), schema), IsEmpty()) << path;
      }
    }
  }
}

TEST(Contract, a_node_with_the_join_port_says_so) {
  ServerOptions options;
  options.joined = std::make_shared<SomeHosts>();
  Served served(options);
  EXPECT_EQ(json::parse(served.get("/v1/me").body).at("join_port"), true);
}

TEST(Contract, the_headers_of_a_logs_bytes_are_listed) {
  Served served;
  const json listed =
      document_of(served)["paths"]["/v1/jobs/{id}/tasks/{index}/log"]["get"]["responses"]["200"];
  LogPiece piece;
  piece.size = 5;
  piece.lost = "its instance was gone";
  std::vector<std::string> sent;
  for (const auto& [name, value] : log_bytes(piece).headers) sent.push_back(name);
  std::vector<std::string> names;
  const json headers = listed.value("headers", json::object());
  for (const auto& [name, header] : headers.items()) names.push_back(name);
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(sent));
}

TEST(Contract, errors_are_listed_and_have_the_shape_of_errors) {
  ServerOptions options;
  options.handle = std::chrono::milliseconds(20);
  Served served(options);
  const json document = document_of(served);
  const SchemaChecker checker(document);
  const auto check = [&](const char* method, const char* path, const RawResponse& response) {
    const json& operation = document["paths"][path][method];
    const json schema = schema_for(operation, response);
    EXPECT_EQ(schema, reference("Error")) << path;
    EXPECT_THAT(checker.faults(json::parse(response.body), schema), IsEmpty()) << path;
  };
  check("get", "/v1/jobs", served.get("/v1/jobs?state=x"));
  check("get", "/v1/jobs/{id}", served.get("/v1/jobs/12345"));
  check("post", "/v1/jobs", served.post("/v1/jobs", "{"));
  check("post", "/v1/plan", served.post("/v1/plan", R"({"command": 1})"));
  served.backend.answer_with(refusal(409, "over", "it is over"));
  check("post", "/v1/jobs/{id}/hold", served.post("/v1/jobs/3/hold"));
  served.backend.be_silent();
  check("get", "/v1/status", served.get("/v1/status"));
}

TEST(Contract, the_documents_requests_are_those_that_are_read) {
  Served served;
  const json document = document_of(served);
  const SchemaChecker checker(document);
  JobRequest full;
  full.name = full.user = full.workload_class = full.token = "x";
  full.command = {"a", "b"};
  full.env = {{"A", "b"}};
  full.work_dir = "/tmp/%j";
  full.make_work_dir = true;
  full.script = "#!/bin/sh\n";
  full.stage = "code";
  full.outputs = {"model.bin"};
  full.optional_outputs = true;
  full.priority = 3;
  full.tasks = 4;
  full.max_running = 2;
  full.gang = true;
  full.cpus = full.memory_gib = 2.5;
  full.gpus = 1;
  full.time_limit_s = full.runtime_hint_s = full.stop_grace_s = full.baseline_rate_per_s = 5;
  full.market = MarketChoice::on_demand;
  full.retries = 2;
  full.max_fails = 0;
  full.from = "1,2";
  full.movable = false;
  full.checkpoints = true;
  full.distinct_instances = true;
  full.most_an_instance = 1;
  full.constraint = "zone=eu-1a";
  full.done_on_stop = true;
  full.retry_on = {"75", "signal"};
  full.signal = "USR1@60";
  full.after = {"12:any"};
  full.begin = "2026-12-01T08:00:00Z";
  full.deadline = "2026-12-02T08:00:00Z";
  full.hold = true;
  full.on_fail = "keep";
  full.every = "0 3 * * *";
  full.zone = "Europe/Berlin";
  full.overlap = true;
  full.notify = {"me@example.org"};
  full.notify_on = "fail";
  full.elastic = "1-8";
  full.progress_unit = "samples";
  full.progress_ends = {10, 20};
  full.speedup = {1, 1.5};
  full.rescale_s = 5;
  full.batch = full.batch_max = full.local_batch_min = full.local_batch_max = 8;
  full.service = RequestService{};
  full.service->spec.ports = {"http"};
  full.service->spec.ready.kind = CheckKind::http;
  full.service->spec.ready.path = "/";
  full.service->spec.ready.port = "http";
  full.service->spec.alive.kind = CheckKind::command;
  full.service->spec.alive.command = {"true"};
  const json written = json::parse(to_json(full));
  EXPECT_THAT(checker.faults(written, reference("JobRequest")), IsEmpty());
  json properties = document["components"]["schemas"]["JobRequest"]["properties"];
  for (const auto& [name, value] : written.items()) {
    properties.erase(name);
  }
  properties.erase("array");  // instead of `tasks`
  EXPECT_TRUE(properties.empty()) << properties;
  EXPECT_THAT(checker.faults(json{{"jobs", {written}}}, reference("Submission")), IsEmpty());
}

TEST(SchemaChecker, finds_what_is_wrong) {
  Served served;
  const json document = document_of(served);
  const SchemaChecker checker(document);
  const auto faults = [&](const char* text, const char* schema) {
    return checker.faults(json::parse(text), reference(schema));
  };
  EXPECT_THAT(faults(R"({"job": 3})", "JobRef"), IsEmpty());
  EXPECT_THAT(faults(R"({"job": -3})", "JobRef"), Not(IsEmpty()));
  EXPECT_THAT(faults(R"({"job": "3"})", "JobRef"), Not(IsEmpty()));
  EXPECT_THAT(faults(R"({})", "JobRef"), Not(IsEmpty()));
  EXPECT_THAT(faults(R"({"jobs": [{"job": 1}, {}]})", "Submitted"), Not(IsEmpty()));
  EXPECT_THAT(faults(R"({"command": ["a"], "colour": 1})", "JobRequest"), Not(IsEmpty()));
  EXPECT_THAT(faults(R"({"command": ["a"], "market": "moon"})", "JobRequest"), Not(IsEmpty()));
  EXPECT_THAT(faults(R"({"jobs": [{"command": 1}]})", "Submission"), Not(IsEmpty()));
}

}  // namespace
}  // namespace muster::api
