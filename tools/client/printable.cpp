#include "tools/client/printable.hpp"

#include <fmt/format.h>

#include "config/request_text.hpp"

namespace muster::client {
namespace {

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

/// C1 control characters, which some terminals obey: U+0080 to U+009F.
bool is_high_control(std::string_view character) {
  return character.size() == 2 && static_cast<unsigned char>(character[0]) == 0xC2 &&
         static_cast<unsigned char>(character[1]) < 0xA0;
}

std::string cleaned(std::string_view text, bool keep_breaks) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (end < text.size() && end < i + 4 && !begins_character(text[end])) ++end;
    const std::string_view character = text.substr(i, end - i);
    const char c = text[i];
    if (c == '\n' || c == '\t' || c == '\r') {
      out += c == '\n' && keep_breaks ? '\n' : ' ';
      end = i + 1;
    } else if (config::is_one_line(character) && !is_high_control(character)) {
      out += character;
    } else {
      out += '?';
    }
    i = end;
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return cleaned(text, false);
}

std::string printable_lines(std::string_view text) {
  return cleaned(text, true);
}

std::string cut(const std::string& text, std::size_t max_columns) {
  if (width_of(text) <= max_columns) return text;
  constexpr std::string_view kMore = "...";
  const std::size_t room = max_columns > kMore.size() ? max_columns - kMore.size() : 0;
  std::size_t end = 0;
  for (std::size_t next = 0; next < text.size(); end = next) {
    do ++next;
    while (next < text.size() && !begins_character(text[next]));
    if (width_of(std::string_view(text).substr(0, next)) > room) break;
  }
  return text.substr(0, end) + std::string(kMore);
}

std::size_t width_of(std::string_view text) {
  // No character takes more than two columns, so all is padded to twice its bytes; what was added
  // tells how wide the library that knows characters takes it to be.
  const std::size_t most = 2 * text.size();
  const std::size_t padding = fmt::formatted_size("{:<{}}", text, most) - text.size();
  return most - padding;
}

}  // namespace muster::client
