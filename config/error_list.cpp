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

/// Names and messages of our own are shorter.
constexpr std::size_t kFieldBytes = 200;
constexpr std::size_t kMessageBytes = 1500;

/// A byte that begins a character of UTF-8, or is one.
bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

/// Control characters become '?', those of two bytes (U+0080 to U+009F) too.
std::string without_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      out += '?';
      ++i;
    } else {
      out += (byte < 0x20 && byte != '\n') || byte == 0x7F ? '?' : text[i];
    }
  }
  return out;
}

std::string cut_to(std::string_view text, std::size_t most) {
  // A few bytes more are shown rather than a note of their number.
  constexpr std::size_t kNote = 24;
  if (text.size() <= most + kNote) return without_controls(text);
  std::size_t end = most;
  while (end > 0 && !begins_character(text[end])) --end;
  return without_controls(text.substr(0, end)) + fmt::format("... ({} bytes)", text.size());
}

}  // namespace

std::string brief(std::string_view value, std::size_t most) {
  std::string text = cut_to(value, most);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string to_text(const TextPlace& place) {
  std::string text = place.file;
  if (place.line > 0) text += fmt::format(":{}", place.line);
  if (place.line > 0 && place.column > 0) text += fmt::format(":{}", place.column);
  return text;
}

void ErrorList::add(const TextPlace& place, std::string_view field, std::string_view message) {
  if (errors_.size() >= kKept) {
    ++dropped_;
    return;
  }
  const std::string_view colon = field.empty() ? "" : ": ";
  errors_.push_back({place.line, place.column, brief(field, kFieldBytes),
                     fmt::format("{}: {}{}{}", to_text(place), brief(field, kFieldBytes), colon,
                                 cut_to(message, kMessageBytes))});
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
  const std::size_t told = std::min(limit, errors_.size());
  if (told < size()) text += fmt::format("\n... and {} more", size() - told);
  return text;
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
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

std::string unknown_word(std::string_view what, std::string_view word,
                         const std::vector<std::string>& known) {
  if (known.empty()) return fmt::format("unknown {} '{}'", what, brief(word));
  const std::string nearest = nearest_word(word, known);
  const std::string hint = nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest);
  return fmt::format("unknown {} '{}'; {}known are: {}", what, brief(word), hint,
                     fmt::join(known, ", "));
}

std::string one_of(std::span<const std::string_view> words, std::string_view quote) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    text += fmt::format("{}{}{}{}", before, quote, words[i], quote);
  }
  return text;
}

}  // namespace muster
