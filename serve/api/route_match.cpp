// Finds what a path leads to in the table of routes.cpp.

#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "serve/api/routes.hpp"

namespace muster::api {
namespace {

/// Ids stay within a signed 64-bit number, as many JSON libraries know no larger ones.
constexpr std::uint64_t kMaxId = std::numeric_limits<std::int64_t>::max();

/// Takes the text up to the next slash off the front.
std::string_view next_segment(std::string_view& path) {
  const std::size_t slash = path.find('/');
  const std::string_view segment = path.substr(0, slash);
  path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  return segment;
}

/// Parameters in a path are numbers, {id} and {index}, or {name}.
bool is_parameter(std::string_view segment) {
  return segment.starts_with('{');
}

// The whole segment has to be a number: "12x" must not reach job 12.
std::optional<std::uint64_t> number_in_path(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && number <= kMaxId ? std::optional(number) : std::nullopt;
}

/// Values of the path in the places of the pattern's parameters.
struct Fit {
  std::vector<std::uint64_t> numbers{};
  std::string name{};
};

/// Nothing when the path does not fit the pattern.
std::optional<Fit> fit(std::string_view pattern, std::string_view path) {
  Fit said;
  // A trailing slash makes another path: next_segment() alone would not see the difference.
  if (path.ends_with('/') != pattern.ends_with('/')) {
    return std::nullopt;
  }
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = next_segment(pattern);
    const std::string_view given = next_segment(path);
    if (!is_parameter(wanted)) {
      if (wanted != given) {
        return std::nullopt;
      }
      continue;
    }
    if (wanted == "{name}") {
      said.name = given;
      // Names need no escapes: a path with an escape matches no name.
      if (said.name.empty()) return std::nullopt;
      continue;
    }
    const std::optional<std::uint64_t> number = number_in_path(given);
    if (!number) {
      return std::nullopt;
    }
    said.numbers.push_back(*number);
  }
  // Both have to be used up, or one is only the beginning of the other.
  return pattern.empty() && path.empty() ? std::optional(std::move(said)) : std::nullopt;
}

}  // namespace

/// O(routes): two dozen patterns, compared a segment at a time. Several routes share a path and
/// differ in their methods, so the search goes on after the first.
Match match(std::string_view path) {
  Match found;
  for (const Route& route : routes()) {
    if (auto said = fit(route.pattern, path)) {
      found.routes.push_back(&route);
      found.numbers = std::move(said->numbers);
      found.name = std::move(said->name);
    }
  }
  return found;
}

std::vector<std::string_view> path_parameters(std::string_view pattern) {
  std::vector<std::string_view> names;
  while (!pattern.empty()) {
    const std::string_view segment = next_segment(pattern);
    if (is_parameter(segment)) {
      names.push_back(segment.substr(1, segment.size() - 2));
    }
  }
  return names;
}

}  // namespace muster::api
