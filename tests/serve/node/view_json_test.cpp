// The API's documents: their shapes are those of the schemas, their bytes those that a JSON library
// would write.
#include "serve/node/view_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "config/submission.hpp"
#include "serve/api/openapi.hpp"
#include "serve/api/traffic.hpp"
#include "serve/node/merge.hpp"
#include "tests/serve/schema.hpp"
#include "tests/support/places.hpp"
#include "tests/support/sample_views.hpp"

namespace muster {
namespace {

using nlohmann::json;
using test::kOddText;
using testing::IsEmpty;

/// One of each kind who does not answer.
Silent sample_silent() {
  Silent silent;
  silent.push_back(
      {.master = "m1", .since = std::chrono::seconds{12}, .last = LastFigures{0.5, 1, 2, 3, 4, 6}});
  silent.push_back({.site = "oslo", .since = std::chrono::seconds{3}});
  silent.push_back({.cloud = "n9"});
  return silent;
}

/// The document, which has the shape of the schema.
json checked(const std::string& text, const std::string& schema) {
  static const json kApi = json::parse(api::openapi_document());
  const json document = json::parse(text);
  EXPECT_EQ(nlohmann::ordered_json::parse(text).dump(), text)
      << "its bytes are those of a JSON library";
  const json reference{{"$ref", "#/components/schemas/" + schema}};
  EXPECT_THAT(api::SchemaChecker(kApi).faults(document, reference), IsEmpty()) << text;
  return document;
}

/// The properties of a schema, and of those that it has as parts of itself.
json properties_of(const json& schema) {
  static const json kSchemas = json::parse(api::openapi_document())["components"]["schemas"];
  if (schema.contains("$ref")) {
    const std::string path = schema["$ref"];
    return properties_of(kSchemas[path.substr(path.rfind('/') + 1)]);
  }
  json all = schema.value("properties", json::object());
  for (const json& part : schema.value("allOf", json::array())) all.update(properties_of(part));
  return all;
}

/// What the schema of the name describes, as a list of names.
std::set<std::string> members_of(const std::string& schema) {
  std::set<std::string> names;
  const json all = properties_of({{"$ref", "#/components/schemas/" + schema}});
  for (const auto& [name, shape] : all.items()) names.insert(name);
  return names;
}

/// What the object has, as a list of names.
std::set<std::string> names_in(const json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

JobView plain_job() {
  JobView job;
  job.job = JobId{1};
  return job;
}

TEST(ViewJson, a_page_of_jobs) {
  JsonText list;
  view_json::add_jobs(list, {test::sample_job(), plain_job()});
  const json page = checked(
      view_json::jobs(list, JobCursor{true, {Instant{Duration{5}}, JobId{7}}}, sample_silent()),
      "Jobs");
  ASSERT_EQ(page["jobs"].size(), 2U);
  EXPECT_EQ(page["jobs"][0]["name"], kOddText);
  EXPECT_EQ(page["jobs"][0]["tasks_total"], 9);
  EXPECT_EQ(page["jobs"][0]["usd"], 0.1 + 0.2);
  EXPECT_TRUE(page["jobs"][1]["master"].is_null());
  EXPECT_EQ(page["next"], "over:5:7");
  EXPECT_EQ(names_in(page), members_of("Jobs"));
  EXPECT_EQ(page["complete"], false);
  EXPECT_EQ(page["silent"][0]["last"]["pending_tasks"], 6);
  EXPECT_EQ(page["silent"][2], json({{"cloud", "n9"}}));
  for (const char* inner : {"to", "to_site", "failure", "total_tasks"}) {
    EXPECT_FALSE(page["jobs"][0].contains(inner)) << inner << " is for who puts parts together";
  }
  const json none = checked(view_json::jobs({}, std::nullopt, {}), "Jobs");
  EXPECT_EQ(none["complete"], true);
  EXPECT_TRUE(none["jobs"].empty());
}

TEST(ViewJson, a_job_with_its_tasks) {
  TaskView refused;
  refused.reason = ReasonView{RefusalKind::never, "refused", "fits no type"};
  for (const bool explained : {false, true}) {
    JsonText list;
    view_json::add_tasks(list, {test::sample_task(4), refused}, explained);
    const JobView job = test::sample_job();
    const JobDocument plain{job, config::submitted_as(*job.submission, job.tasks), {}, 4, 17};
    const std::string schema = explained ? "Explanation" : "JobWithTasks";
    const json document =
        checked(explained ? view_json::job(ExplainedDocument{job, {}, 4, 17}, list, sample_silent())
                          : view_json::job(plain, list, sample_silent()),
                schema);
    EXPECT_EQ(names_in(document), members_of(schema));
    EXPECT_EQ(names_in(document["tasks"][0]), members_of(explained ? "ExplainedTask" : "Task"));
    EXPECT_EQ((explained ? document["job"] : document)["state"], "failed");
    EXPECT_EQ(document["tasks"][0].contains("why"), explained);
    EXPECT_EQ(document["tasks"][0]["ran_s"], 1e21);
    EXPECT_EQ(document["tasks"][1]["reason"]["code"], "refused");
    EXPECT_TRUE(document["tasks"][1]["instance"].is_null());
    EXPECT_EQ(document["next"], 4);
    EXPECT_EQ(document["tasks_behind"], 17);
    EXPECT_EQ(document.contains("submission"), !explained);
    if (explained) continue;
    EXPECT_EQ(document["submission"]["array"], "0-100:10");
    EXPECT_EQ(document["submission"]["env_names"], json({"NAME"}));
    EXPECT_EQ(document["submission"]["tasks"], 9);
  }
}

TEST(ViewJson, a_job_of_which_nobody_knows_the_request) {
  const json document = checked(view_json::job(JobDocument{plain_job()}, {}, {}), "JobWithTasks");
  EXPECT_TRUE(document["submission"].is_null());
  EXPECT_TRUE(document["next"].is_null());
}

TEST(ViewJson, keys_of_a_request_that_have_no_member_of_their_own) {
  JobDocument job{plain_job(), SubmittedAs{}};
  job.submission->others = {{"done_on_stop", "true"}, {"retry_on", R"(["3","signal"])"}};
  const json document = checked(view_json::job(job, {}, {}), "JobWithTasks");
  EXPECT_EQ(document["submission"]["done_on_stop"], true);
  EXPECT_EQ(document["submission"]["retry_on"], json({"3", "signal"}));
  EXPECT_TRUE(document["submission"]["work_dir"].is_null());
}

TEST(ViewJson, instances_and_decisions_of_several_masters) {
  InstanceView older = test::sample_instance();
  older.requested = test::at_s(1);
  older.up.reset();
  const auto all = merge::instances({{{older}}, {{test::sample_instance()}}});
  const json instances = checked(view_json::document(all, {}), "Instances")["instances"];
  EXPECT_EQ(instances[0]["requested_s"], 10.0) << "the last one that was asked for is first";
  EXPECT_EQ(instances[0]["capacity"]["network"], 10.0);
  EXPECT_FALSE(instances[0]["used"].contains("network"));
  DecisionView newer = test::sample_decision();
  newer.at = test::at_s(600);
  const std::vector<DecisionsView> told{{{test::sample_decision()}}, {{newer}}};
  const json decisions =
      checked(view_json::document(merge::decisions(told, 0), {}), "Decisions")["decisions"];
  EXPECT_EQ(decisions[0]["at_s"], 600.0);
  EXPECT_TRUE(decisions[1]["figures"]["M_F"].is_null()) << "it is not finite";
  EXPECT_EQ(merge::decisions(told, 1).decisions.size(), 1U);
}

TEST(ViewJson, what_several_masters_and_a_cloud_have_spent) {
  RentedInstance rented{InstanceId{3}, "c7i.large"};
  rented.usd = 0.5;
  CostView master = test::sample_cost();
  const CostView by_user = merge::cost({master, master}, std::nullopt);
  EXPECT_EQ(checked(view_json::document(by_user, {}), "Cost")["by"][0]["usd"], 14.0)
      << "the dearest is first";
  master.by.clear();
  const CostView sum = merge::cost({master, master}, RentedView{{rented}, 24});
  const json cost = checked(view_json::document(sum, sample_silent()), "Cost");
  EXPECT_EQ(cost["total_usd"], 24.0) << "of instances the cloud's bill counts";
  EXPECT_EQ(cost["unsettled_usd"], -0.5);
  EXPECT_EQ(cost["idle_usd"]["boot"], 1.0);
  EXPECT_EQ(cost["by"], json::parse(R"x([{"name": "(earlier instances)", "usd": 23.5},
                                        {"name": "3 c7i.large", "usd": 0.5}])x"))
      << "the parts add up to the total";
}

TEST(ViewJson, the_status_of_two_masters) {
  CellFigures other = test::sample_figures();
  other.master = "m1";
  other.trouble.clear();
  std::vector<NodeView> nodes(2);
  nodes[0] = {"n0", {"master m0", "api"}, true, NodeLoad{6, 4, 5, 0.75, "eva"}};
  nodes[1].node = "n1";
  const StatusView status =
      merge::status({test::sample_figures(), other}, {{"oslo", 3, "learns", 0, 5}},
                    test::at_s(1'700'000'000.5), nodes);
  const json document = checked(view_json::document(status, {}), "Status");
  EXPECT_EQ(document["jobs"], json::parse(R"({"handing_over": 3, "held": 6, "over": 200005,
                                              "running": 4, "waiting": 2})"));
  EXPECT_EQ(document["tasks"]["pending"], 34) << "those that are held or capped among them";
  EXPECT_EQ(document["elastic"], json::parse(R"({"jobs": 4, "workers": 10})"));
  EXPECT_EQ(document["instances"][0],
            json::parse(R"({"count": 4, "market": "on-demand", "type": "c7i.large"})"));
  EXPECT_EQ(document["usd_h"], 1.5);
  EXPECT_TRUE(document["caps"][0]["max_usd_h"].is_null()) << "there is none";
  EXPECT_EQ(document["trouble"],
            json({"m0: the disk is slow", "site oslo: learns", "n1: not connected"}));
  EXPECT_TRUE(document["nodes"][1]["load"].empty());
  checked(view_json::document(NodesView{nodes}, {}), "Nodes");
}

/// Views that have schemas, and whether they are documents with whose part is missing.
template <class View>
class SchemasOfViews : public ::testing::Test {};
using Shapes = ::testing::Types<JobView, TaskView, ReasonView, SilentView, InstanceView, NodeView,
                                CapsOf, PlanView, DecisionView, HistorySample, ExplainedTask,
                                SubmittedAs, ServiceView, ReplicaView, EndpointView>;
TYPED_TEST_SUITE(SchemasOfViews, Shapes);

TYPED_TEST(SchemasOfViews, HaveEveryMemberOfADocumentAndNoOther) {
  const std::string schema(TypeParam::kSchema);
  const std::set<std::string> described = members_of(schema);
  for (const bool full : {true, false}) {
    const TypeParam view = full ? test::sample<TypeParam>() : TypeParam{};
    const json document = checked(view_json::document(view), schema);
    for (const auto& [name, value] : document.items()) {
      EXPECT_TRUE(described.contains(name)) << name;
      EXPECT_TRUE(!full || !value.is_null()) << name;
    }
    EXPECT_TRUE(!full || document.size() == described.size()) << document;
  }
}

TEST(ViewJson, shows_words_for_what_is_counted_inside) {
  PlanView plan;
  plan.launches = {{"c7i.large", Market::on_demand, 0.09}};
  plan.refusals = {{2, RefusalKind::not_now, "not now: instance cap"}};
  const json document = checked(view_json::document(plan), "Plan");
  EXPECT_EQ(document["launches"][0]["market"], "on-demand");
  EXPECT_EQ(document["refusals"][0]["kind"], "not now");
}

TEST(JsonText, writes_numbers_and_text_as_a_JSON_library_does) {
  for (const double number : {0.0, -0.0, 1.0, -17.0, 0.1, 1e14, 1e15, 123456789012345678.0, 1e300,
                              5e-324, -2.5, 1'700'000'000.25}) {
    EXPECT_EQ(JsonText().value(number).text(), json(number).dump());
  }
  EXPECT_EQ(JsonText().value(std::nan("")).text(), "null");
  for (const char* text : {"", "plain", kOddText, "\x7f", "</script>"}) {
    EXPECT_EQ(JsonText().value(text).text(), json(text).dump());
  }
  EXPECT_EQ(JsonText().value("\xff!").text(), "\"\xef\xbf\xbd!\"") << "what is not UTF-8";
}

TEST(ViewJson, sums_the_pasts_of_the_masters_minute_by_minute) {
  // The second master says nothing in the third minute: it counts as it was.
  const HistoryView sums = merge::history(
      {{{test::sample_of_past(60, 1), test::sample_of_past(125, 2), test::sample_of_past(185, 4)}},
       {{test::sample_of_past(130, 10)}}});
  const json past = checked(view_json::document(sums, sample_silent()), "History");
  ASSERT_EQ(past["samples"].size(), 3U);
  EXPECT_EQ(past["samples"][0]["usd_h"], 1.0);
  EXPECT_EQ(past["samples"][1]["usd_h"], 12.0);
  EXPECT_EQ(past["samples"][2]["usd_h"], 14.0);
  EXPECT_EQ(past["samples"][2]["at_s"], 185.0) << "the newest minute is not over";
  EXPECT_EQ(past["samples"][2]["tasks_pending"], 10);
  EXPECT_EQ(past["complete"], false);
}

TEST(ViewJson, a_cluster_without_a_past_has_no_samples) {
  EXPECT_TRUE(merge::history({}).samples.empty());
  EXPECT_TRUE(merge::history({HistoryView{}, HistoryView{}}).samples.empty());
}

TEST(ViewJson, a_clock_that_was_far_off_makes_no_list_of_years) {
  const auto sums = merge::history({{{test::sample_of_past(1, 1), test::sample_of_past(1e9, 2)}}});
  EXPECT_LE(sums.samples.size(), 1'501U);
  EXPECT_EQ(sums.samples.back().usd_h, 2.0);
}

TEST(ViewJson, counters_and_histograms_of_the_masters_are_metrics) {
  const api::MetricsInput all = merge::metrics({test::sample_figures()}, {});
  const std::string text = api::metrics_text(all, {});
  for (const char* line :
       {"muster_jobs_over_total{outcome=\"completed\",master=\"m0\"} 7\n",
        "muster_launch_refusals_total{reason=\"cloud_capacity\",master=\"m0\"} 2\n",
        "muster_moves_total{master=\"m0\"} 3\n",
        "muster_decision_seconds_bucket{master=\"m0\",le=\"0.01\"} 6\n",
        "muster_decision_seconds_bucket{master=\"m0\",le=\"+Inf\"} 7\n",
        "muster_decision_seconds_sum{master=\"m0\"} 0.75\n",
        "muster_start_seconds_count{master=\"m0\"} 5\n",
        "muster_reported_tasks{name=\"p99_ms\",user=\"ann\",master=\"m0\"} 3\n",
        "muster_reported_mean{name=\"p99_ms\",user=\"ann\",master=\"m0\"} 2\n",
        "muster_reported_max{name=\"p99_ms\",user=\"ann\",master=\"m0\"} 4\n",
        "muster_last_decision_seconds{master=\"m0\"} 0.00125\n"}) {
    EXPECT_THAT(text, testing::HasSubstr(line));
  }
}

/// Every word of the text that begins like a metric's name.
std::set<std::string> metric_names(const std::string& text) {
  std::set<std::string> names;
  for (std::size_t at = text.find("muster_"); at != std::string::npos;) {
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", at);
    names.insert(text.substr(at, end - at));
    at = text.find("muster_", end);
  }
  return names;
}

std::string content_of(const std::string& path) {
  std::ifstream in(test::source_dir() / path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ViewJson, the_metrics_of_the_dashboard_and_of_the_documents_are_those_that_are_served) {
  const api::Traffic traffic;
  std::set<std::string> served = metric_names(
      api::metrics_text(merge::metrics({test::sample_figures()}, {}), traffic.figures()));
  served.insert("muster_master_reachable");  // of the node that asks (actor_backend_test.cpp)
  const std::string dashboard = content_of("packaging/grafana/muster.json");
  ASSERT_TRUE(json::accept(dashboard));
  const std::set<std::string> shown = metric_names(dashboard);
  EXPECT_GT(shown.size(), 15U);
  for (const std::string& name : shown) EXPECT_TRUE(served.contains(name)) << name;
  const std::string documents = content_of("docs/api.md");
  for (const std::string& name : served) {
    // The series of a distribution stand under its name.
    std::string plain = name;
    for (const char* end : {"_bucket", "_sum", "_count"}) {
      if (plain.ends_with(end)) plain.resize(plain.size() - std::strlen(end));
    }
    EXPECT_NE(documents.find("`" + plain + "`"), std::string::npos) << plain;
  }
}

}  // namespace
}  // namespace muster
