// The schema of a job request follows from the table of its keys, by which requests are read, too:
// the API's document cannot differ from what the API takes.

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

Json schema_of(const config::RequestNumber& key) {
  Json schema = type(key.range.whole ? "integer" : "number");
  schema["minimum"] = bound(key.range, key.range.low);
  if (key.range.above_low) schema["exclusiveMinimum"] = true;
  schema["maximum"] = bound(key.range, key.range.high);
  if (key.text == config::NumberText::none) return schema;
  return either(std::move(schema), type("string"));
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

/// A list may also be one text, which has its elements as a flag has them.
Json list_of(Json element, unsigned least = 1) {
  return either({{"type", "array"}, {"minItems", least}, {"items", std::move(element)}},
                {{"type", "string"}, {"minLength", 1}});
}

Json schema_of(const config::RequestOther& key) {
  return std::visit(
      [&](auto at) -> Json {
        using Value = std::remove_cvref_t<decltype(JobRequest{}.*at)>;
        const Json text_or_number = either(type("string"), type("integer"));
        if constexpr (std::is_same_v<Value, std::string>) {
          return type("string");
        } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
          return list_of(type("number"));
        } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
          // Exit codes and "signal", of which there may be none.
          return key.numbers ? list_of(text_or_number, 0) : list_of(type("string"));
        } else {
          return {{"type", "object"}, {"additionalProperties", text_or_number}};
        }
      },
      key.at);
}

/// The default as a value of the key's kind; nothing where the table has it in words.
std::optional<Json> default_of(const RequestKey& key) {
  if (std::holds_alternative<config::RequestSwitch>(key.kind))
    return Json(key.default_value == "true");
  if (std::holds_alternative<config::RequestWord>(key.kind)) return Json(key.default_value);
  const auto* number = std::get_if<config::RequestNumber>(&key.kind);
  const auto value = number == nullptr ? std::nullopt : parse_number(key.default_value);
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
