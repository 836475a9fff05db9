#include "serve/api/routes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "serve/api/openapi.hpp"
#include "serve/api/reference.hpp"

namespace muster::api {
namespace {

using nlohmann::json;

std::set<std::string> routes_of_table() {
  std::set<std::string> all;
  for (const Route& route : routes()) {
    all.insert(std::string(route.method) + " " + std::string(route.pattern));
  }
  return all;
}

TEST(Routes, are_those_of_the_document) {
  std::set<std::string> all;
  const json document = json::parse(openapi_document());
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      all.insert((method == "get" ? "GET " : "POST ") + path);
    }
  }
  EXPECT_EQ(all, routes_of_table());
  EXPECT_EQ(all.size(), routes().size());
}

TEST(Routes, have_operations_and_names_of_their_own) {
  std::set<Operation> operations;
  std::set<std::string> names;
  for (const Route& route : routes()) {
    operations.insert(route.operation);
  }
  const json document = json::parse(openapi_document());
  for (const auto& methods : document["paths"]) {
    for (const auto& operation : methods) {
      names.insert(operation["operationId"]);
    }
  }
  EXPECT_EQ(operations.size(), routes().size());
  EXPECT_EQ(names.size(), routes().size());
}

/// Adds the names of the members, as "Job.state", that no phrase describes.
void collect_undescribed(const json& schema, const std::string& name,
                         std::set<std::string>& undescribed) {
  if (schema.contains("items")) collect_undescribed(schema["items"], name, undescribed);
  for (const char* several : {"allOf", "anyOf"}) {
    if (!schema.contains(several)) continue;
    for (const json& part : schema[several]) collect_undescribed(part, name, undescribed);
  }
  if (!schema.contains("properties")) return;
  for (const auto& [key, member] : schema["properties"].items()) {
    const std::string whole = name + "." + key;
    if (member.value("description", "").empty()) undescribed.insert(whole);
    collect_undescribed(member, whole, undescribed);
  }
}

TEST(Documents, have_a_meaning_for_each_member) {
  const json document = json::parse(openapi_document());
  std::set<std::string> undescribed;
  for (const auto& [name, schema] : document["components"]["schemas"].items()) {
    collect_undescribed(schema, name, undescribed);
  }
  EXPECT_EQ(undescribed, std::set<std::string>());
}

TEST(Reference, has_a_section_for_each_request_and_document) {
  const std::string text = reference_text();
  for (const Route& route : routes()) {
    const std::string heading = fmt::format("\n### {} {}\n", route.method, route.pattern);
    EXPECT_NE(text.find(heading), std::string::npos) << heading;
  }
  const json document = json::parse(openapi_document());
  for (const auto& [name, schema] : document["components"]["schemas"].items()) {
    EXPECT_NE(text.find("\n### " + name + "\n"), std::string::npos) << name;
  }
}

/// The section of the reference below a heading.
std::string section(const std::string& heading) {
  const std::string text = reference_text();
  const std::size_t begin = text.find("\n### " + heading + "\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find("\n##", begin + 1) - begin);
}

TEST(Reference, says_types_bounds_and_defaults) {
  const auto expect_row = [](const std::string& heading, const std::string& row) {
    EXPECT_NE(section(heading).find("\n" + row + "\n"), std::string::npos) << section(heading);
  };
  expect_row("GET /v1/jobs",
             "| `limit` | whole number from 1 to 10000 | `100` | most entries of the answer |");
  expect_row("GET /v1/jobs",
             "| `state` | `active`, `over`, `all`, `waiting`, `starting`, `running`, `held`, "
             "`stopping` | `\"active\"` | state of the jobs to list |");
  expect_row("GET /v1/jobs/{id}/tasks/{index}/log",
             "| `index` | whole number |  | index of the task in its job |");
  expect_row("Job", "| `elastic.unit` | text or null | unit of done and whole |");
  expect_row("Task", "| `reason` | [Reason](#reason) or null | why it waits; null: it does not |");
  expect_row("Submission", "| `jobs` | list of [JobRequest](#jobrequest) | the jobs |");
  expect_row("IssuedToken", "All members of [Token](#token), and:");
}

TEST(Routes, lead_paths_to_one_pattern) {
  for (const Route& route : routes()) {
    std::string path(route.pattern);
    for (std::size_t brace = path.find('{'); brace != std::string::npos; brace = path.find('{')) {
      path.replace(brace, path.find('}') - brace + 1, "7");
    }
    const Match found = match(path);
    ASSERT_FALSE(found.routes.empty()) << path;
    for (const Route* other : found.routes) {
      EXPECT_EQ(other->pattern, route.pattern);
    }
    EXPECT_EQ(found.numbers.size() + (found.name.empty() ? 0 : 1),
              path_parameters(route.pattern).size());
  }
}

/// Adds the names of all the schemas that the value refers to.
void collect_references(const json& value, std::set<std::string>& names) {
  if (value.is_object() && value.contains("$ref")) {
    const std::string reference = value["$ref"];
    names.insert(reference.substr(reference.rfind('/') + 1));
  }
  if (value.is_structured()) {
    for (const json& part : value) {
      collect_references(part, names);
    }
  }
}

/// A client that fills in what the document says asks for what it would have got without.
TEST(JobRequests, have_defaults_in_their_schema_only_where_saying_them_changes_nothing) {
  const json document = json::parse(openapi_document());
  const json& keys = document["components"]["schemas"]["JobRequest"]["properties"];
  EXPECT_EQ(keys["tasks"]["default"], 1);
  EXPECT_EQ(keys["movable"]["default"], true);
  for (const char* key : {"retries", "local_batch_min", "rescale_s"}) {
    EXPECT_FALSE(keys[key].contains("default")) << key;
  }
  EXPECT_NE(keys["retries"]["description"].get<std::string>().find("master.max_attempts"),
            std::string::npos);
}

TEST(JobRequests, have_the_bounds_of_codes_and_scripts_in_their_schema) {
  const json document = json::parse(openapi_document());
  const json& keys = document["components"]["schemas"]["JobRequest"]["properties"];
  const json& code = keys["retry_on"]["anyOf"][0]["items"]["anyOf"][0];
  EXPECT_EQ(code, json::parse(R"({"type": "integer", "minimum": 1, "maximum": 255})"));
  EXPECT_EQ(keys["script"]["maxLength"], 131'072);
}

TEST(Routes, use_every_shape_of_the_document_and_no_other) {
  const json document = json::parse(openapi_document());
  std::set<std::string> used;
  collect_references(document, used);
  std::set<std::string> there;
  for (const auto& [name, schema] : document["components"]["schemas"].items()) {
    there.insert(name);
  }
  EXPECT_EQ(used, there);
}

}  // namespace
}  // namespace muster::api
