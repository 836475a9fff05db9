#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "model/fields.hpp"
#include "model/ids.hpp"
#include "model/resources.hpp"

// How views of the cluster say their members: `fields` of a view stands below it, and serves the
// messages between nodes, the API's documents (written, read and described as schemas) and the
// samples of tests. docs/add-a-field.md has the steps for a new member.

namespace muster {

/// How a member stands in the API's documents.
enum class InDocument : std::uint8_t {
  always,   ///< there; null where an optional member has no value
  later,    ///< always sent, but not by servers of earlier versions
  or_null,  ///< there, and null where its value says nothing
  if_any    ///< left out where its value says nothing
};

/// The name of a member in documents, with its unit, how it stands there, and its meaning, which
/// the API's schema and reference show: a phrase for users. A member of messages alone has no
/// meaning.
struct ViewKey : Key {
  InDocument shown = InDocument::always;
  std::string_view meaning{};

  constexpr ViewKey(const char* in_documents, InDocument how = InDocument::always,
                    const char* means = "")
      : Key(in_documents), shown(how), meaning(means) {}
};

/// Of a member that documents always have.
constexpr ViewKey always(const char* name, const char* meaning) {
  return {name, InDocument::always, meaning};
}
/// Of a member that came later than the API's first version.
constexpr ViewKey later(const char* name, const char* meaning = "") {
  return {name, InDocument::later, meaning};
}
/// Of a member that is null where its value says nothing.
constexpr ViewKey or_null(const char* name, const char* meaning = "") {
  return {name, InDocument::or_null, meaning};
}
/// Of a member that is left out where its value says nothing.
constexpr ViewKey if_any(const char* name, const char* meaning = "") {
  return {name, InDocument::if_any, meaning};
}
/// Of a member that is not in documents: nodes say it to each other only.
struct InsideKey : Key {
  explicit constexpr InsideKey(const char* in_messages) : Key(in_messages) {}
};
/// Of a member that users are not shown.
constexpr InsideKey inside(const char* name) {
  return InsideKey(name);
}

/// Whether documents have the amount also where it is 0.
constexpr bool is_always_shown(Resource kind) {
  return kind == Resource::cpu || kind == Resource::memory || kind == Resource::gpu;
}

/// Whether a value is one that says nothing: an empty text, no number above 0, no id, no value.
template <class T>
bool says_nothing(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return !(value > T{});
  } else {
    return false;
  }
}
inline bool says_nothing(const std::string& text) {
  return text.empty();
}
template <class Tag, class Number>
bool says_nothing(Id<Tag, Number> id) {
  return !id.valid();
}
template <class T>
bool says_nothing(const std::optional<T>& value) {
  return !value.has_value();
}

}  // namespace muster
