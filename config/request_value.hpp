#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/error_list.hpp"

namespace muster::config {

struct RequestMember;

/// A value of a job request, whether it was written in TOML or in JSON.
struct RequestValue {
  /// A value that no key takes: null, a date, or one that is nested too deeply; as it was written.
  struct Other {
    std::string text;
  };
  using List = std::vector<RequestValue>;
  using Table = std::vector<RequestMember>;

  std::variant<Other, bool, std::int64_t, double, std::string, List, Table> data;
  TextPlace place;

  /// The number it is, if it is one.
  std::optional<double> number() const;
};

/// A key with its value.
struct RequestMember {
  std::string key;
  TextPlace place;
  RequestValue value;
};

/// The document, with the places of everything in it; nothing when it is no TOML, which is then
/// added to the errors.
std::optional<RequestValue> parse_toml(std::string_view text, const std::string& source,
                                       ErrorList& errors);

/// Likewise, for JSON. An object that has a key twice is an error.
std::optional<RequestValue> parse_json(std::string_view text, const std::string& source,
                                       ErrorList& errors);

/// The TOML library's fault, in terms of the right form.
std::string toml_reason(std::string_view description);

/// The value as it may be written, cut off where it is long, for error messages.
std::string written(const RequestValue& value);

/// The text without control characters, cut off where it is long.
std::string shown(std::string text);

}  // namespace muster::config
