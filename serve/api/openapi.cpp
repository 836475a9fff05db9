// Builds the OpenAPI document from the table of routes, by which requests are checked too: the
// description cannot differ from the checks.

#include "serve/api/openapi.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/api/file_routes.hpp"
#include "serve/api/file_rows.hpp"
#include "serve/api/http.hpp"
#include "serve/api/principal.hpp"
#include "serve/api/request_schema.hpp"
#include "serve/api/routes.hpp"
#include "serve/api/view_schemas.hpp"

namespace muster::api {
namespace {

using Json = nlohmann::ordered_json;

Json reference(std::string_view schema) {
  return {{"$ref", "#/components/schemas/" + std::string(schema)}};
}

/// Whether it is about an instance, and so the cluster's to answer.
bool path_names_instance(const Route& route) {
  return route.pattern.starts_with("/v1/instances");
}

Json path_parameter(const Route& route, std::string_view name) {
  const bool is_number = name != "name";
  const std::string about = !is_number                   ? "name of the token"
                            : name == "index"            ? "index of the task in its job"
                            : name == "command"          ? "number of the command"
                            : path_names_instance(route) ? "id of the instance"
                                                         : "id of the job";
  Json schema = {{"type", is_number ? "integer" : "string"}};
  if (is_number) schema["minimum"] = 0;
  return {{"name", name},
          {"in", "path"},
          {"required", true},
          {"description", about},
          {"schema", std::move(schema)}};
}

Json header_parameter(const char* name, Json schema, const char* about) {
  return {{"name", name}, {"in", "header"}, {"description", about}, {"schema", std::move(schema)}};
}

Json schema_of(const Parameter& parameter) {
  Json schema;
  switch (parameter.kind) {
    case Parameter::Kind::number: {
      schema = {{"type", "integer"}, {"minimum", parameter.least}, {"maximum", parameter.most}};
      if (parameter.fallback.empty()) return schema;
      // Defaults are texts in the table; a schema wants a number.
      std::uint64_t fallback = 0;
      std::from_chars(parameter.fallback.data(),
                      parameter.fallback.data() + parameter.fallback.size(), fallback);
      schema["default"] = fallback;
      return schema;
    }
    case Parameter::Kind::choice:
      schema = {{"type", "string"}, {"enum", parameter.choices}};
      if (!parameter.fallback.empty()) schema["default"] = parameter.fallback;
      return schema;
    case Parameter::Kind::text:
      break;
  }
  return {{"type", "string"}, {"maxLength", parameter.most}};
}

Json parameters_of(const Route& route) {
  Json list = Json::array();
  for (const std::string_view name : path_parameters(route.pattern)) {
    list.push_back(path_parameter(route, name));
  }
  for (const Parameter& parameter : route.query) {
    list.push_back({{"name", parameter.name},
                    {"in", "query"},
                    {"description", parameter.about},
                    {"schema", schema_of(parameter)}});
  }
  if (changes(route)) {
    list.push_back(header_parameter("Idempotency-Key",
                                    {{"type", "string"}, {"minLength", 1}, {"maxLength", 64}},
                                    "Number of the request; a request with the number of an "
                                    "earlier one is a repetition of it"));
    list.push_back(header_parameter("Muster-Sent", {{"type", "integer"}, {"minimum", 1}},
                                    "Number of the try; grows with each repetition"));
  }
  return list;
}

/// The errors that a route may answer with.
std::vector<int> errors_of(const Route& route) {
  // Open routes ask nothing of the cluster: no token, no job that could be missing.
  if (route.access == Access::open) {
    return {400, 421, 422};
  }
  std::vector<int> errors{400, 401};
  if (route.access != Access::all) errors.push_back(403);
  if (!path_parameters(route.pattern).empty()) {
    errors.push_back(404);
  }
  // A job that no master has yet, or had, has no log.
  if (route.method == "POST" || route.operation == Operation::log) errors.push_back(409);
  if (route.method == "POST") errors.push_back(413);
  errors.insert(errors.end(), {421, 422, 429, 503});
  if (brings_files(route.operation)) errors.insert(errors.end(), {500, 507});
  if (reads_files(route.operation)) errors.insert(errors.end(), {409, 500});
  // The node's own records may be on a disk that takes nothing.
  if (route.access == Access::admins && !path_names_instance(route)) errors.push_back(500);
  return errors;
}

std::string media_type(std::string_view content_type) {
  return std::string(content_type.substr(0, content_type.find(';')));
}

/// Headers with the other members of a piece of a log whose bytes are the body.
Json log_headers() {
  Json headers = Json::object();
  const auto add = [&](const char* name, const char* type, const char* meaning) {
    headers[name] = {{"description", std::string(meaning) + "; with raw=1"},
                     {"schema", {{"type", type}}}};
  };
  add("Muster-Attempt", "integer", "Whose output it is");
  add("Muster-Offset", "integer", "Where the piece begins");
  add("Muster-Next-Offset", "integer", "Offset of the next piece");
  add("Muster-Size", "integer", "Bytes that the attempt has written so far, where known");
  add("Muster-More", "integer", "1: more output is there or may come; else 0");
  add("Muster-Lost", "string", "Why some of the attempt's output is lost, where it is");
  return headers;
}

Json answers_of(const Route& route) {
  const Json shape = route.answer.empty() ? Json{{"type", "string"}} : reference(route.answer);
  Json answers = Json::object();
  answers[std::to_string(route.success)] = {
      {"description", reason_phrase(route.success)},
      {"content", {{media_type(route.content_type), {{"schema", shape}}}}}};
  if (route.operation == Operation::log) {
    answers["200"]["content"]["application/octet-stream"] = {
        {"schema", {{"type", "string"}, {"format", "binary"}}}};
    answers["200"]["headers"] = log_headers();
  }
  if (!route.later.empty()) {
    answers["202"] = {{"description", reason_phrase(202)},
                      {"content", {{"application/json", {{"schema", reference(route.later)}}}}}};
  }
  // Every error has the same body, so clients need one type for all.
  for (const int status : errors_of(route)) {
    answers[std::to_string(status)] = {
        {"description", reason_phrase(status)},
        {"content", {{"application/json", {{"schema", reference("Error")}}}}}};
  }
  return answers;
}

/// "getJobsIdExplain": one word that client generators make a function of.
std::string operation_id(const Route& route) {
  std::string id = route.method == "POST" ? "post" : "get";
  bool capital = true;
  for (const char letter : route.pattern) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
    if (plain) {
      id += capital && letter >= 'a' ? static_cast<char>(letter - 'a' + 'A') : letter;
    }
    capital = !plain;
  }
  return id;
}

Json operation_of(const Route& route) {
  Json operation{{"operationId", operation_id(route)}, {"summary", route.summary}};
  if (Json parameters = parameters_of(route); !parameters.empty()) {
    operation["parameters"] = std::move(parameters);
  }
  if (!route.body.empty()) {
    const bool is_bytes = route.body == kFileBytes;
    const std::string type = is_bytes ? "application/octet-stream" : "application/json";
    operation["requestBody"] = {{"required", true},
                                {"content", {{type, {{"schema", reference(route.body)}}}}}};
  }
  operation["responses"] = answers_of(route);
  if (route.access == Access::open) {
    // An empty list overrides the document's rule that a token is needed.
    operation["security"] = Json::array();
  }
  return operation;
}

}  // namespace

std::string openapi_document() {
  Json schemas = document_schemas();
  schemas["JobRequest"] = request_schema();
  for (const char* about_tokens : {"Me", "Token", "TokenRequest"}) {
    schemas[about_tokens]["properties"]["role"]["enum"] = kWords<Role>;
  }
  Json paths = Json::object();
  for (const Route& route : routes()) {
    // Routes of one path share an entry, by method.
    paths[std::string(route.pattern)][route.method == "POST" ? "post" : "get"] =
        operation_of(route);
  }
  const Json document{{"openapi", "3.0.3"},
                      {"info",
                       {{"title", "Muster"},
                        {"version", "1"},
                        {"description",
                         "Submits work to a cluster and shows what becomes of it. Times are "
                         "seconds since 1970 (UTC), amounts of money are US dollars."}}},
                      {"security", Json::array({Json{{"token", Json::array()}}})},
                      {"paths", std::move(paths)},
                      {"components",
                       {{"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}},
                        {"schemas", std::move(schemas)}}}};
  return document.dump();
}

}  // namespace muster::api
