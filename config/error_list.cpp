#include "config/error_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "model/closest_word.hpp"
#include "model/text_cut.hpp"

namespace muster {
namespace {

/// Names and messages of our own are shorter.
constexpr std::size_t kFieldBytes = 200;
constexpr std::size_t kMessageBytes = 1500;

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
  return without_controls(whole_characters(text, most)) +
         fmt::format("... ({} bytes)", text.size());
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

std::string unknown_word(std::string_view what, std::string_view word,
                         const std::vector<std::string>& known) {
  if (known.empty()) return fmt::format("unknown {} '{}'", what, brief(word));
  return fmt::format("unknown {} '{}'; {}known are: {}", what, brief(word), meant_word(word, known),
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
