#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/time.hpp"

namespace muster::report {

/// A figure or a name that belongs to a line of a story, for programs to read.
using ExplanationValue =
    std::variant<std::uint64_t, double, std::string, std::vector<std::uint64_t>>;

/// One thing that happened.
struct ExplanationLine {
  Instant at;
  std::string what;  ///< one word: accepted, waits, placed, moved, starts, ...
  std::string text;  ///< a sentence for people
  std::vector<std::pair<std::string, ExplanationValue>> details;
  std::uint64_t times = 1;  ///< how often it happened without anything else in between
  Instant last{};           ///< when it did last; only when that was more than once
};

/// The story of one task or instance, in order of time.
struct Explanation {
  std::string title;
  std::vector<ExplanationLine> lines;
  std::vector<ExplanationLine> costs;  ///< costs of the story's instances in the end
};

/// A line an occurrence: "day 1 03:20:05  98405 s  text". Events that repeat in a row are one line,
/// with their number and the last time.
std::string to_text(const Explanation& explanation);

/// {"title", "lines": [{"t_s", "time", "what", "text", ...details}], "costs": [...]}. A line of
/// what happened several times in a row has "times" and "last_s" too.
std::string to_json(const Explanation& explanation);

}  // namespace muster::report
