#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/time.hpp"

// Kinds of a policy's parameters. A kind reads, writes and describes the values of one type, so
// that the range a person is shown is the one that is checked.

namespace muster::params {

/// How the values of a parameter are read and shown. Every value that `print` writes for a default
/// has to be one that `parse` takes.
template <class T>
struct Kind {
  std::string range;                                            ///< "a number > 0 and <= 1"
  std::function<std::optional<T>(const std::string&)> parse{};  ///< nothing when it is out of range
  std::function<std::string(const T&)> print{};
};

/// The numbers between two bounds: above(0).up_to(1), from(0).below(1).
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool has_low = true;   ///< `low` itself is in the range
  bool has_high = true;  ///< likewise

  Range up_to(double most) const { return {low, most, has_low, true}; }
  Range below(double most) const { return {low, most, has_low, false}; }
  bool contains(double value) const;
  std::string text() const;  ///< "> 0 and <= 1"
};
/// The numbers > `least`.
inline Range above(double least) {
  return {.low = least, .has_low = false};
}
/// The numbers >= `least`.
inline Range from(double least) {
  return {.low = least};
}

/// How a number is written: without an exponent where it is short enough, 1e9 and not 1e+09.
std::string number_text(double value);

/// Yes or no.
Kind<bool> flag();
/// A flag whose member says the opposite: given, it takes away what the member stands for.
Kind<bool> negated_flag();
Kind<double> number(const Range& range);
Kind<std::uint32_t> whole(std::uint32_t low, std::uint32_t high);
/// A number of seconds or milliseconds, by the unit at the end of the parameter's name, or what
/// parse_duration() takes besides.
Kind<Duration> in_seconds(const Range& range);
Kind<Duration> in_milliseconds(const Range& range);
/// A file; a path that is not given is empty.
Kind<std::filesystem::path> path();
/// Texts joined by +, as commas stand between parameters.
Kind<std::vector<std::string>> list();

/// "greedy, exact or none": words for an error or a range.
std::string any_of(const std::vector<std::string>& words);

/// One of a few words, each of which stands for a value.
template <class T>
Kind<T> choice(std::vector<std::pair<std::string, T>> words) {
  std::vector<std::string> names;
  names.reserve(words.size());
  for (const auto& [name, value] : words) names.push_back(name);
  Kind<T> kind{any_of(names)};
  kind.parse = [words](const std::string& text) -> std::optional<T> {
    for (const auto& [name, value] : words) {
      if (name == text) return value;
    }
    return std::nullopt;
  };
  kind.print = [words](const T& chosen) {
    for (const auto& [name, value] : words) {
      if (value == chosen) return name;
    }
    return std::string{};
  };
  return kind;
}

/// A value of another kind, or none at all.
template <class T>
Kind<std::optional<T>> optional(Kind<T> of) {
  Kind<std::optional<T>> kind{of.range + ", or none"};
  kind.parse = [of](const std::string& text) {
    std::optional<std::optional<T>> parsed;
    if (text == "none") {
      parsed.emplace();
    } else if (auto value = of.parse(text)) {
      parsed.emplace(std::move(value));
    }
    return parsed;
  };
  kind.print = [of](const std::optional<T>& value) {
    return value ? of.print(*value) : std::string("none");
  };
  return kind;
}

}  // namespace muster::params
