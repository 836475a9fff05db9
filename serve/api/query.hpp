#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "model/expected.hpp"
#include "serve/api/routes.hpp"

namespace muster::api {

/// The parameters of a query, checked against what a route declares; those that were not given have
/// their defaults.
class Query {
 public:
  /// Fails with 400 (not a query) or 422 (the message names every parameter that is wrong).
  static Expected<Query, int> parse(std::string_view text, const Route& route);

  /// Whether the route has such a parameter.
  bool has(std::string_view name) const { return values_.contains(name); }
  const std::string& text(std::string_view name) const;
  std::uint64_t number(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// A target's path and its query, without the question mark.
struct Target {
  std::string_view path;
  std::string_view query;
};
Target split_target(std::string_view target);

}  // namespace muster::api
