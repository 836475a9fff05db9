#include "serve/api/view_schemas.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "model/job_documents.hpp"
#include "model/views.hpp"
#include "serve/api/assets.hpp"

namespace muster::api {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
concept HasSchema = requires {
  { T::kSchema } -> std::convertible_to<std::string_view>;
};

Json schema_named(std::string_view schema) {
  return {{"$ref", "#/components/schemas/" + std::string(schema)}};
}

/// Describes the members that `fields` of a view names, as properties of an object.
class SchemaFields {
 public:
  template <class T>
  void operator()(ViewKey key, const T& value) {
    const std::string name(key.name);
    Json schema = schema_of(value);
    if (key.shown == InDocument::or_null) schema = or_null(std::move(schema));
    if (key.shown == InDocument::if_any) {
      schema.erase("nullable");  // it is left out instead
    } else {
      required_.push_back(name);
    }
    if (!key.meaning.empty()) {
      // A reference has no room for anything beside it.
      if (schema.contains("$ref")) schema = {{"allOf", Json::array({std::move(schema)})}};
      schema["description"] = key.meaning;
    }
    properties_[name] = std::move(schema);
  }
  void operator()(InsideKey, const auto&) {}
  template <class View>
  void operator()(AmongKey, const View&) {
    wholes_.push_back(schema_named(View::kSchema));
  }
  void operator()(OthersKey, const auto&) {}

  void add(const std::string& name, Json schema) {
    properties_[name] = std::move(schema);
    required_.push_back(name);
  }
  Json object() && {
    Json schema{{"type", "object"}};
    if (!required_.empty()) schema["required"] = std::move(required_);
    schema["properties"] = std::move(properties_);
    if (wholes_.empty()) return schema;
    wholes_.push_back(std::move(schema));
    return {{"allOf", std::move(wholes_)}};
  }

 private:
  static Json or_null(Json schema) {
    // A reference has no room for anything beside it.
    if (schema.contains("$ref")) schema = {{"allOf", Json::array({std::move(schema)})}};
    schema["nullable"] = true;
    return schema;
  }
  template <class T>
  static Json schema_of(const T& value) {
    if constexpr (HasSchema<T>) {
      return schema_named(T::kSchema);
    } else if constexpr (Described<T>) {
      SchemaFields inner;
      fields(inner, value);
      return std::move(inner).object();
    } else if constexpr (std::is_same_v<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::is_floating_point_v<T>) {
      return {{"type", "number"}};
    } else if constexpr (std::is_integral_v<T>) {
      Json schema{{"type", "integer"}};
      if (std::is_unsigned_v<T>) schema["minimum"] = 0;
      return schema;
    } else if constexpr (std::is_enum_v<T>) {
      return {{"type", "string"}, {"enum", kWords<T>}};
    } else {
      return schema_of_value(value);
    }
  }
  static Json schema_of_value(const std::string&) { return {{"type", "string"}}; }
  static Json schema_of_value(Instant) { return {{"type", "number"}}; }
  static Json schema_of_value(Duration) { return {{"type", "number"}}; }
  static Json schema_of_value(const Resources&) { return schema_named("Amounts"); }
  static Json schema_of_value(const std::vector<FigureView>&) {
    return {{"type", "object"}, {"additionalProperties", {{"type", "number"}, {"nullable", true}}}};
  }
  static Json schema_of_value(const Labels&) {
    return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
  }
  template <class Tag, class Number>
  static Json schema_of_value(Id<Tag, Number>) {
    return {{"type", "integer"}, {"minimum", 0}};
  }
  template <class T>
  static Json schema_of_value(const std::optional<T>&) {
    return or_null(schema_of(T{}));
  }
  template <class T>
  static Json schema_of_value(const std::vector<T>&) {
    return {{"type", "array"}, {"items", schema_of(T{})}};
  }

  Json properties_ = Json::object();
  Json required_ = Json::array();
  Json wholes_ = Json::array();  ///< schemas of the views whose members are among these
};

template <class View>
void add_view(Json& all, bool gathered) {
  SchemaFields members;
  const View view{};
  fields(members, view);
  if (gathered) {
    members.add("complete", {{"type", "boolean"},
                             {"description", "all have answered who may have a part of it"}});
    members.add("silent", {{"type", "array"},
                           {"items", schema_named(SilentView::kSchema)},
                           {"description", "those who have not answered; their part is missing"}});
  }
  all[std::string(View::kSchema)] = std::move(members).object();
}

template <class... Views>
void add_views(Json& all, std::type_identity<std::tuple<Views...>>, bool gathered) {
  (add_view<Views>(all, gathered), ...);
}

}  // namespace

Json document_schemas() {
  Json all = Json::object();
  add_views(all, std::type_identity<PlainViews>(), false);
  add_views(all, std::type_identity<GatheredViews>(), true);
  add_views(all, std::type_identity<PartsOfJobDocuments>(), false);
  add_views(all, std::type_identity<JobDocuments>(), true);
  all.merge_patch(Json::parse(assets::kSchemas));
  return all;
}

}  // namespace muster::api
