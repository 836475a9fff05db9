#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/expected.hpp"

namespace muster {

struct JsonMember;

/// A JSON text as a tree whose numbers keep their digits, so that nothing is lost on the way
/// through a double, and whose objects keep the order of their members.
struct JsonValue {
  struct Number {
    std::string digits;
  };
  using Array = std::vector<JsonValue>;
  using Object = std::vector<JsonMember>;

  std::variant<std::monostate, bool, Number, std::string, Array, Object> content;
};

/// One name of an object, with what it stands for.
struct JsonMember {
  std::string name;
  JsonValue value;
};

enum class JsonError : unsigned char { malformed, too_deep };

/// Parses one JSON value that takes up the whole text. Arrays and objects may be nested 32 deep.
Expected<JsonValue, JsonError> parse_json(std::string_view text);

}  // namespace muster
