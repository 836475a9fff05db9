#include "serve/api/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "serve/api/openapi.hpp"

namespace muster::api {
namespace {

using Json = nlohmann::ordered_json;

std::string document_named_by(const Json& reference) {
  const std::string path = reference["$ref"];
  return path.substr(path.rfind('/') + 1);
}

/// A link to the document's section.
std::string link_to(const std::string& document) {
  std::string anchor = document;
  std::ranges::transform(anchor, anchor.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return fmt::format("[{}](#{})", document, anchor);
}

/// Markdown ends a cell at each bar and reads what is in angle brackets as a tag.
std::string cell(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '|')
      out += "\\|";
    else if (letter == '<')
      out += "&lt;";
    else
      out += letter == '\n' ? ' ' : letter;
  }
  return out;
}

std::string type_of(const Json& schema);

std::string type_of_any(const Json& choices) {
  std::vector<std::string> types;
  for (const Json& choice : choices) {
    std::string type = type_of(choice);
    if (std::ranges::find(types, type) == types.end()) types.push_back(std::move(type));
  }
  return fmt::format("{}", fmt::join(types, " or "));
}

std::string number_text(const Json& schema) {
  const bool least = schema.contains("minimum");
  const bool most = schema.contains("maximum");
  const std::string type = schema["type"] == "integer" ? "whole number" : "number";
  // From 0 on is said by every count; it would hide the bounds that matter.
  if (!most)
    return least && schema["minimum"] != 0 ? type + " from " + schema["minimum"].dump() : type;
  return fmt::format("{} from {} to {}", type, least ? schema["minimum"].dump() : "0",
                     schema["maximum"].dump());
}

std::string text_text(const Json& schema) {
  if (schema.contains("enum")) {
    std::vector<std::string> words;
    for (const Json& word : schema["enum"])
      words.push_back(fmt::format("`{}`", word.get<std::string>()));
    return fmt::format("{}", fmt::join(words, ", "));
  }
  if (!schema.contains("maxLength")) return "text";
  return fmt::format("text of at most {} bytes", schema["maxLength"].dump());
}

std::string plain_type_of(const Json& schema) {
  if (schema.contains("$ref")) return link_to(document_named_by(schema));
  for (const char* several : {"anyOf", "oneOf", "allOf"}) {
    if (schema.contains(several)) return type_of_any(schema[several]);
  }
  const std::string type = schema.value("type", "any value");
  if (type == "array")
    return "list of " + (schema.contains("items") ? type_of(schema["items"]) : "values");
  if (type == "integer" || type == "number") return number_text(schema);
  if (type == "string") return text_text(schema);
  if (type == "boolean") return "true or false";
  if (!schema.contains("additionalProperties") || schema["additionalProperties"].is_boolean())
    return type;
  return "by name: " + type_of(schema["additionalProperties"]);
}

std::string type_of(const Json& schema) {
  const std::string type = plain_type_of(schema);
  return schema.value("nullable", false) ? type + " or null" : type;
}

/// The rows of an object's members, those of objects within it as "load.usd_h".
void put_members(const Json& schema, const std::string& before, std::string& out) {
  if (schema.contains("items")) return put_members(schema["items"], before, out);
  for (const char* several : {"allOf", "anyOf", "oneOf"}) {
    if (!schema.contains(several)) continue;
    for (const Json& part : schema[several]) put_members(part, before, out);
  }
  if (!schema.contains("properties")) return;
  for (const auto& [name, member] : schema["properties"].items()) {
    std::string meaning = member.value("description", "");
    if (member.contains("default"))
      meaning += fmt::format(" (default {})", member["default"].dump());
    out += fmt::format("| `{}` | {} | {} |\n", before + name, cell(type_of(member)), cell(meaning));
    put_members(member, before + name + ".", out);
  }
}

void put_document(const std::string& name, const Json& schema, std::string& out) {
  out += fmt::format("\n### {}\n\n", name);
  if (schema.contains("description"))
    out += cell(schema["description"].get<std::string>()) + "\n\n";
  if (schema.contains("allOf")) {
    for (const Json& part : schema["allOf"]) {
      if (part.contains("$ref")) {
        out += fmt::format("All members of {}, and:\n\n", link_to(document_named_by(part)));
      }
    }
  }
  std::string rows;
  put_members(schema, "", rows);
  // Of a document that may be one of several, the members that one of them has of its own.
  if (schema.contains("anyOf") && !rows.empty()) out += type_of(schema) + ":\n\n";
  out +=
      rows.empty() ? type_of(schema) + "\n" : "| member | type | meaning |\n|---|---|---|\n" + rows;
}

/// "[Job](#job)", or the media type of an answer that is no document.
std::string content_of(const Json& content) {
  std::vector<std::string> kinds;
  for (const auto& [media, body] : content.items()) {
    kinds.push_back(media == "application/json" ? type_of(body["schema"]) : media);
  }
  return fmt::format("{}", fmt::join(kinds, " or "));
}

std::string parameter_rows(const Json& operation) {
  std::string rows;
  if (!operation.contains("parameters")) return rows;
  for (const Json& parameter : operation["parameters"]) {
    if (parameter["in"] == "header") continue;  // those of all changes, which the page tells once
    const Json& schema = parameter["schema"];
    rows += fmt::format(
        "| `{}` | {} | {} | {} |\n", parameter["name"].get<std::string>(), cell(type_of(schema)),
        schema.contains("default") ? fmt::format("`{}`", schema["default"].dump()) : "",
        cell(parameter.value("description", "")));
  }
  return rows;
}

void put_request(const std::string& method, const std::string& path, const Json& operation,
                 std::string& out) {
  std::string verb = method;
  std::ranges::transform(verb, verb.begin(), [](unsigned char letter) {
    return static_cast<char>(std::toupper(letter));
  });
  out += fmt::format("\n### {} {}\n\n{}.\n\n", verb, path, operation["summary"].get<std::string>());
  if (operation.contains("requestBody")) {
    out += fmt::format("- body: {}\n", content_of(operation["requestBody"]["content"]));
  }
  std::vector<std::string> errors;
  for (const auto& [status, answer] : operation["responses"].items()) {
    if (status[0] == '2') {
      out += fmt::format("- {}: {}\n", status, content_of(answer["content"]));
    } else {
      errors.push_back(status);
    }
  }
  out += fmt::format("- errors: {}\n", fmt::join(errors, ", "));
  if (const std::string rows = parameter_rows(operation); !rows.empty()) {
    out += "\n| parameter | type | default | meaning |\n|---|---|---|---|\n" + rows;
  }
}

}  // namespace

std::string reference_text() {
  const Json document = Json::parse(openapi_document());
  std::string out = "## Requests\n";
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      put_request(method, path, operation, out);
    }
  }
  out += "\n## Documents\n";
  for (const auto& [name, schema] : document["components"]["schemas"].items()) {
    put_document(name, schema, out);
  }
  return out;
}

}  // namespace muster::api
