#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/client/answers.hpp"
#include "tools/client/printable.hpp"

// How the documents of the API are read: field by field, each of which has to be what it has to be.

namespace muster::client {

/// Where the first field stands that is not what it has to be, and what that is; empty: all is
/// well.
using Fault = std::string;

/// Reads the fields of one object. After a fault everything reads as its default, and the first
/// fault is kept: one look at the end is enough.
class Fields {
  using json = nlohmann::json;

 public:
  Fields(const json& object, std::string place, Fault& fault)
      : object_(object), place_(std::move(place)), fault_(fault) {
    if (!object_.is_object()) blame("", "an object");
  }

  std::string text(const char* key) const {
    const json* value = wanted(key, &json::is_string, "a text");
    return value != nullptr ? printable(value->get_ref<const std::string&>()) : "";
  }
  /// Empty when it is null.
  std::string text_or_null(const char* key) const { return null(key) ? "" : text(key); }
  /// As the server sent it: only for the output of tasks, which the user asked for byte by byte.
  std::string raw_text(const char* key) const {
    const json* value = wanted(key, &json::is_string, "a text");
    return value != nullptr ? value->get<std::string>() : "";
  }
  double number(const char* key) const {
    const json* value = wanted(key, &json::is_number, "a number");
    return value != nullptr ? value->get<double>() : 0;
  }
  std::optional<double> number_or_null(const char* key) const {
    return null(key) ? std::nullopt : std::optional(number(key));
  }
  std::uint64_t count(const char* key,
                      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const {
    const json* value = wanted(key, &json::is_number_unsigned, "a whole number");
    if (value == nullptr) return 0;
    const auto number = value->get<std::uint64_t>();
    if (number <= most) return number;
    blame(key, fmt::format("a whole number up to {}", most));
    return 0;
  }
  std::optional<std::uint64_t> count_or_null(const char* key) const {
    return null(key) ? std::nullopt : std::optional(count(key));
  }
  std::int64_t whole(const char* key,
                     std::int64_t most = std::numeric_limits<std::int64_t>::max()) const {
    const json* value = wanted(key, &json::is_number_integer, "a whole number");
    if (value == nullptr) return 0;
    const auto number = value->get<std::int64_t>();
    if (number <= most && number >= -most - 1) return number;
    blame(key, fmt::format("a whole number from {} to {}", -most - 1, most));
    return 0;
  }
  Duration seconds(const char* key) const {
    const double length = number(key);
    // 292 years: nanoseconds in 64 bits.
    constexpr double kLongest = 9.2e9;
    if (length >= -kLongest && length <= kLongest) return from_seconds(length);
    blame(key, "a time in seconds");
    return {};
  }
  bool truth(const char* key) const {
    const json* value = wanted(key, &json::is_boolean, "true or false");
    return value != nullptr && value->get<bool>();
  }
  // False of a value that is no object: after blame() nothing is looked up in it.
  bool has(const char* key) const { return object_.is_object() && object_.contains(key); }
  /// Its members, for those that are shown whatever they are; empty for a value that is not an
  /// object.
  const json& members() const {
    static const json kNothing = json::object();
    return object_.is_object() ? object_ : kNothing;
  }
  bool null(const char* key) const { return has(key) && object_.at(key).is_null(); }
  Fields object(const char* key) const {
    const json* value = wanted(key, &json::is_object, "an object");
    static const json kNothing = json::object();
    // `kNothing` outlives the Fields that refer to it; the fault is set by then and its fields read
    // as defaults.
    return {value != nullptr ? *value : kNothing, place_ + "/" + key, fault_};
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> all = raw_texts(key);
    for (std::string& text : all) text = printable(text);
    return all;
  }
  /// As the server sent them: only for who makes them printable otherwise.
  std::vector<std::string> raw_texts(const char* key) const {
    std::vector<std::string> all;
    const json* list = wanted(key, &json::is_array, "a list");
    if (list == nullptr) return all;
    for (const json& element : *list) {
      if (!element.is_string()) {
        blame(key, "a list of texts");
        return {};
      }
      all.push_back(element.get<std::string>());
    }
    return all;
  }
  /// The texts of an object, by their keys.
  std::map<std::string, std::string> entries(const char* key) const {
    std::map<std::string, std::string> all;
    const json* object = wanted(key, &json::is_object, "an object");
    if (object == nullptr) return all;
    for (const auto& [name, text] : object->items()) {
      if (!text.is_string()) {
        blame(key, "an object of texts");
        return {};
      }
      all[printable(name)] = printable(text.get<std::string>());
    }
    return all;
  }
  /// `read` of every object of the list.
  template <class Read>
  auto list(const char* key, Read read) const {
    std::vector<decltype(read(std::declval<const Fields&>()))> all;
    const json* elements = wanted(key, &json::is_array, "a list");
    if (elements == nullptr) return all;
    // Stops at the first fault: the elements after it would read as defaults.
    for (std::size_t i = 0; i < elements->size() && fault_.empty(); ++i) {
      all.push_back(read(Fields((*elements)[i], fmt::format("{}/{}/{}", place_, key, i), fault_)));
    }
    return all;
  }

 private:
  const json* wanted(const char* key, bool (json::*is)() const noexcept,
                     std::string_view what) const {
    // After a fault nothing is looked up, so the first one is the one that is reported.
    if (!fault_.empty()) return nullptr;
    if (has(key) && (object_.at(key).*is)()) return &object_.at(key);
    blame(key, what);
    return nullptr;
  }
  void blame(std::string_view key, std::string_view what) const {
    if (!fault_.empty()) return;
    const bool missing = !key.empty() && !has(std::string(key).c_str());
    fault_ = fmt::format("{}{}{} {} be {}", place_, key.empty() ? "" : "/", key,
                         missing ? "is missing; it has to" : "has to", what);
  }

  const json& object_;
  std::string place_;
  Fault& fault_;
};

/// The struct that `read` makes of the document, unless a field is not what it has to be.
template <class Read>
auto parsed(const Answer& answer, Read read)
    -> Parsed<decltype(read(std::declval<const Fields&>()))> {
  Fault fault;
  auto result = read(Fields(answer.document, "", fault));
  if (fault.empty()) return result;
  return Failure<ClientError>{
      ClientError::malformed,
      "the answer is not one of Muster's API as this version knows it: " + fault};
}

}  // namespace muster::client
