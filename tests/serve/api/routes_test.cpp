#include "serve/api/routes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "serve/api/openapi.hpp"
#include "tests/support/places.hpp"

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

/// How docs/api.md has a parameter.
std::string row_of(const Parameter& parameter, std::string_view pattern) {
  std::string choices;
  for (const std::string_view choice : parameter.choices) {
    choices += (choices.empty() ? "" : ", ") + std::string(choice);
  }
  const bool is_text = parameter.kind == Parameter::Kind::text;
  const std::string range = is_text ? fmt::format("a text of at most {} bytes", parameter.most)
                            : choices.empty()
                                ? fmt::format("{} to {}", parameter.least, parameter.most)
                                : choices;
  // Without a default: a list begins where it begins, and any other parameter chooses nothing.
  const std::string nothing = parameter.name == "after"  ? "the beginning"
                              : parameter.name == "user" ? "everybody"
                                                         : "any";
  const std::string fallback =
      parameter.fallback.empty() ? nothing : fmt::format("`{}`", parameter.fallback);
  return fmt::format("| `{}` | `{}` | {} | {} |", parameter.name, pattern, fallback, range);
}

TEST(Routes, have_the_defaults_that_the_documentation_says) {
  std::ifstream in(test::source_dir() / "docs/api.md");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (const Route& route : routes()) {
    for (const Parameter& parameter : route.query) {
      EXPECT_NE(text.find(row_of(parameter, route.pattern)), std::string::npos)
          << row_of(parameter, route.pattern);
    }
  }
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
