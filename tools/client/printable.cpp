#include "tools/client/printable.hpp"

#include <fmt/format.h>

#include "config/request_text.hpp"

namespace muster::client {
namespace {

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

}  // namespace

std::string printable(std::string_view text) {
  return config::readable(text, false);
}

std::string printable_lines(std::string_view text) {
  return config::readable(text, true);
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
  // No character takes more than two columns, so all is padded to twice its bytes; the added number
  // tells how wide the library that knows characters takes it to be.
  const std::size_t most = 2 * text.size();
  const std::size_t padding = fmt::formatted_size("{:<{}}", text, most) - text.size();
  return most - padding;
}

}  // namespace muster::client
