#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace muster::api {

/// Checks JSON values against the schemas of an OpenAPI 3.0 document, as far as the API's own
/// document uses them.
class SchemaChecker {
 public:
  explicit SchemaChecker(const nlohmann::json& document) : document_(document) {}

  /// What is wrong with the value, each with its place; empty when it has the schema's shape.
  std::vector<std::string> faults(const nlohmann::json& value, const nlohmann::json& schema) const;

 private:
  void check(const nlohmann::json& value, const nlohmann::json& schema, const std::string& place,
             std::vector<std::string>& faults) const;
  void check_object(const nlohmann::json& value, const nlohmann::json& schema,
                    const std::string& place, std::vector<std::string>& faults) const;

  const nlohmann::json& document_;
};

}  // namespace muster::api
