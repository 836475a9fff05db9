#include "config/error_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace muster {
namespace {

/// Number of letters to change, add or drop to get from one word to the other (Levenshtein).
std::size_t distance(std::string_view from, std::string_view to) {
  // One row of the table at a time: O(|from| x |to|) steps, O(|to|) memory.
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, changed});
    }
  }
  return row.back();
}

}  // namespace

std::string to_text(const TextPlace& place) {
  std::string text = place.file;
  if (place.line > 0) text += fmt::format(":{}", place.line);
  if (place.line > 0 && place.column > 0) text += fmt::format(":{}", place.column);
  return text;
}

void ErrorList::add(const TextPlace& place, std::string_view field, std::string_view message) {
  const std::string_view colon = field.empty() ? "" : ": ";
  errors_.push_back(
      {place.line, place.column, fmt::format("{}: {}{}{}", to_text(place), field, colon, message)});
}

void ErrorList::sort_by_line() {
  std::stable_sort(errors_.begin(), errors_.end(), [](const Error& a, const Error& b) {
    // Line 0 is no line: such errors come last.
    if (a.line == 0 || b.line == 0) return a.line > b.line;
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
}

std::string ErrorList::text(std::size_t limit) const {
  std::string text;
  for (std::size_t i = 0; i < std::min(limit, errors_.size()); ++i) {
    if (i > 0) text += '\n';
    text += errors_[i].text;
  }
  if (limit < errors_.size()) text += fmt::format("\n... and {} more", errors_.size() - limit);
  return text;
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  // A third of the letters, but two at least: of short words nearly every one would be near.
  const std::size_t tolerated = std::max<std::size_t>(2, word.size() / 3);
  std::string best;
  std::size_t best_distance = tolerated + 1;
  for (const std::string& candidate : known) {
    const std::size_t d = distance(word, candidate);
    if (d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

std::string unknown_word(std::string_view what, std::string_view word,
                         const std::vector<std::string>& known) {
  const std::string nearest = nearest_word(word, known);
  const std::string hint = nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest);
  return fmt::format("unknown {} '{}'; {}known are: {}", what, word, hint, fmt::join(known, ", "));
}

}  // namespace muster
