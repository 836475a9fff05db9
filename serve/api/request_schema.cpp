// Derives the schema of a job request from the table of its keys, by which requests are read, too:
// names, kinds, ranges and words in the API's document are those that the reader goes by. Rules
// that only a key's own check knows, such as the form of a text, stand in its description.

#include "serve/api/request_schema.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "config/request_keys.hpp"

namespace muster::api {
namespace {

using Json = nlohmann::ordered_json;
using config::RequestKey;

Json type(const char* name) {
  return {{"type", name}};
}

Json either(Json one, Json other) {
  return {{"anyOf", Json::array({std::move(one), std::move(other)})}};
}

/// A bound of whole numbers is written as one.
Json bound(const NumberRange& range, double number) {
  return range.whole ? Json(static_cast<std::int64_t>(number)) : Json(number);
}

Json schema_of(const config::RequestText& /*key*/) {
  return {{"type", "string"}, {"maxLength", config::kMaxRequestText}};
}

Json schema_of(const config::RequestSwitch& /*key*/) {
  return type("boolean");
}

Json schema_of(const config::RequestWord& /*key*/) {
  return {{"type", "string"}, {"enum", kWords<MarketChoice>}};
}

Json schema_of(const NumberRange& range) {
  Json schema = type(range.whole ? "integer" : "number");
  schema["minimum"] = bound(range, range.low);
  if (range.above_low) schema["exclusiveMinimum"] = true;
  schema["maximum"] = bound(range, range.high);
  return schema;
}

Json schema_of(const config::RequestNumber& key) {
  if (key.text == config::NumberText::none) return schema_of(key.range);
  return either(schema_of(key.range), type("string"));
}

/// A list may also be one text, which has its elements as a flag has them.
Json list_of(Json element, unsigned least = 1) {
  return either({{"type", "array"}, {"minItems", least}, {"items", std::move(element)}},
                {{"type", "string"}, {"minLength", 1}});
}

Json described(Json schema, const char* meaning) {
  schema["description"] = meaning;
  return schema;
}

/// A time in seconds, or a text like "5s".
Json time_schema(const char* meaning) {
  return described(either(type("number"), type("string")), meaning);
}

Json texts_schema(const char* meaning) {
  return described({{"type", "array"}, {"items", type("string")}, {"minItems", 1}}, meaning);
}

Json object_of(Json members, const char* meaning) {
  return described(
      {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(members)}},
      meaning);
}

Json schema_of_check(const char* meaning) {
  Json members = {
      {"http", described(type("string"), "path of `port` that answers 200 to 399")},
      {"tcp", described(type("string"), "name of the port that takes a connection")},
      {"command", texts_schema("a program that ends with exit code 0, and its arguments")},
      {"line", described(type("boolean"), "true: the program says `ready` itself")},
      {"port", described(type("string"), "name of the port that `http` asks")},
      {"every_s", time_schema("from one check to the next")},
      {"timeout_s", time_schema("time after which a check has failed")},
      {"successes", described(type("integer"), "checks in a row after which it is well")},
      {"failures", described(type("integer"), "checks in a row after which it is not")}};
  return object_of(std::move(members), meaning);
}

Json schema_of_goal() {
  const Json bound = {{"type", "number"}, {"exclusiveMinimum", 0}};
  Json members = {
      {"metric", described(type("string"), "name of the number, as the replicas report it")},
      {"at_most", described(bound, "the number is to be this at most")},
      {"at_least", described(bound, "or this at least")},
      {"probe", texts_schema("a program that prints the number, and its arguments")},
      {"every_s", time_schema("from one run of the probe to the next")},
      {"timeout_s", time_schema("time after which a probe has measured nothing")},
      {"reported", described(type("boolean"), "true: the program reports the number itself")}};
  return object_of(std::move(members), "a number of the replicas, and its bound");
}

Json schema_of_service() {
  const Json replicas = {{"type", "integer"}, {"minimum", 1}, {"maximum", kLargestService}};
  const Json surge = {{"type", "integer"}, {"minimum", 0}, {"maximum", kLargestService}};
  Json members = {
      {"replicas", described(replicas, "number of its replicas")},
      {"most_replicas", described(replicas, "replicas that it may be scaled to")},
      {"surge", described(surge, "replicas beyond those, while another revision comes")},
      {"max_unavailable", described(surge, "replicas that need not be ready for Muster's sake")},
      {"healthy_for_s", time_schema("time that a replica is ready before another one may leave")},
      {"update_within_s", time_schema("for each next replica of a revision to be ready")},
      {"ports", texts_schema("names of the ports of each replica")},
      {"ready", schema_of_check("whether clients may be sent to a replica")},
      {"alive", schema_of_check("whether a replica is to go on as it is")},
      {"start_within_s", time_schema("time in which a replica has to be ready")},
      {"drain_s", time_schema("from the end of its being listed to its request to stop")},
      {"goal", schema_of_goal()},
      {"scale", object_of({{"min", described(replicas, "least number of replicas")},
                           {"max", described(replicas, "largest number of replicas")}},
                          "numbers of replicas between which the goal chooses")}};
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(members)}};
}

Json schema_of(const config::RequestOther& key) {
  return std::visit(
      [&](auto at) -> Json {
        using Value = std::remove_cvref_t<decltype(JobRequest{}.*at)>;
        if constexpr (std::is_same_v<Value, std::string>) {
          Json text = {{"type", "string"}, {"minLength", 1}};
          // The bound is one of bytes; no text of fewer bytes has more characters.
          if (key.longest > 0) text["maxLength"] = key.longest;
          return text;
        } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
          return list_of(type("number"));
        } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
          // Exit codes and "signal"; the list may be empty.
          if (!key.numbers) return list_of(type("string"));
          return list_of(either(schema_of(*key.numbers), type("string")), 0);
        } else if constexpr (std::is_same_v<Value, std::optional<RequestService>>) {
          return schema_of_service();
        } else {
          return {{"type", "object"},
                  {"additionalProperties", either(type("string"), type("integer"))}};
        }
      },
      key.at);
}

/// A request without the number differs from one that says it, whatever its value.
bool is_optional(const config::RequestNumber& key) {
  return std::visit(
      [](auto at) {
        using Value = std::remove_cvref_t<decltype(JobRequest{}.*at)>;
        return !std::is_arithmetic_v<Value>;
      },
      key.at);
}

/// The default as a value of the key's kind; nothing where the table has it in words, or a client
/// that fills it in would ask for something else than one that leaves the key out.
std::optional<Json> default_of(const RequestKey& key) {
  if (std::holds_alternative<config::RequestSwitch>(key.kind))
    return Json(key.default_value == "true");
  if (std::holds_alternative<config::RequestWord>(key.kind)) return Json(key.default_value);
  const auto* number = std::get_if<config::RequestNumber>(&key.kind);
  if (number == nullptr || is_optional(*number)) return std::nullopt;
  const auto value = parse_number(key.default_value);
  if (!value) return std::nullopt;
  return bound(number->range, *value);
}

Json schema_of(const RequestKey& key) {
  Json schema = std::visit([](const auto& kind) { return schema_of(kind); }, key.kind);
  std::string description = key.meaning;
  if (auto value = default_of(key)) {
    schema["default"] = *std::move(value);
  } else if (key.default_value != "none" && key.default_value != "required") {
    description += "; default: " + key.default_value;
  }
  schema["description"] = std::move(description);
  return schema;
}

}  // namespace

Json request_schema() {
  Json required = Json::array();
  Json properties = Json::object();
  for (const RequestKey& key : config::request_keys()) {
    if (key.default_value == "required") required.push_back(key.name);
    properties[key.name] = schema_of(key);
  }
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", std::move(required)},
          {"properties", std::move(properties)}};
}

}  // namespace muster::api
