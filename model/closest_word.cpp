#include "model/closest_word.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

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

std::string closest_word(std::string_view word, const std::vector<std::string>& known) {
  // A third of the letters, but two at least: of short words nearly every one would be near.
  // Known words are shorter, and the comparison takes the product of the two lengths.
  constexpr std::size_t kLongest = 200;
  if (word.size() > kLongest) return {};
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

std::string meant_word(std::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = closest_word(word, known);
  return nearest.empty() ? std::string{} : "did you mean '" + nearest + "'? ";
}

}  // namespace muster
