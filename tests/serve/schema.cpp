#include "tests/serve/schema.hpp"

#include <algorithm>

namespace muster::api {
namespace {

using nlohmann::json;

bool has_type(const json& value, const std::string& type) {
  return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
         (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
         (type == "integer" && value.is_number_integer()) ||
         (type == "number" && value.is_number());
}

}  // namespace

std::vector<std::string> SchemaChecker::faults(const json& value, const json& schema) const {
  std::vector<std::string> found;
  check(value, schema, "", found);
  return found;
}

void SchemaChecker::check(const json& value, const json& schema, const std::string& place,
                          std::vector<std::string>& faults) const {
  if (schema.contains("$ref")) {
    const json::json_pointer target(schema["$ref"].get<std::string>().substr(1));
    return check(value, document_.at(target), place, faults);
  }
  if (value.is_null() && schema.value("nullable", false)) {
    return;
  }
  for (const json& part : schema.value("allOf", json::array())) {
    check(value, part, place, faults);
  }
  if (schema.contains("anyOf")) {
    const bool any = std::ranges::any_of(
        schema["anyOf"], [&](const json& part) { return this->faults(value, part).empty(); });
    if (!any) {
      faults.push_back(place + ": is none of what it may be");
    }
  }
  if (schema.contains("type") && !has_type(value, schema["type"])) {
    faults.push_back(place + ": is not of type " + schema["type"].get<std::string>());
    return;
  }
  if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end()) {
    faults.push_back(place + ": is no word of the list: " + value.dump());
  }
  if (schema.contains("minimum") && value < schema["minimum"]) {
    faults.push_back(place + ": is too small");
  }
  if (value.is_object()) {
    check_object(value, schema, place, faults);
  }
  if (value.is_array() && schema.contains("items")) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      check(value[i], schema["items"], place + "/" + std::to_string(i), faults);
    }
  }
}

void SchemaChecker::check_object(const json& value, const json& schema, const std::string& place,
                                 std::vector<std::string>& faults) const {
  for (const json& name : schema.value("required", json::array())) {
    if (!value.contains(name.get<std::string>())) {
      faults.push_back(place + ": has no " + name.get<std::string>());
    }
  }
  const json properties = schema.value("properties", json::object());
  const json others = schema.value("additionalProperties", json(true));
  for (const auto& [name, part] : value.items()) {
    if (properties.contains(name)) {
      check(part, properties[name], place + "/" + name, faults);
    } else if (others.is_object()) {
      check(part, others, place + "/" + name, faults);
    } else if (others == false) {
      faults.push_back(place + "/" + name + ": is not known");
    }
  }
}

}  // namespace muster::api
