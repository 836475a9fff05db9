#include "storage/files/path_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/hexadecimal.hpp"

namespace muster::files {
namespace {

constexpr std::size_t kMostShown = 200;

/// The bytes of the character that the text begins with; 0 when it begins with no valid one.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t at = 1; at < size; ++at) {
    if (byte(at) < 0x80 || byte(at) > 0xbf) return 0;
  }
  // Longer forms than needed, surrogates, and numbers above the last character.
  const unsigned char second = byte(1);
  const bool valid = !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second > 0x9f) &&
                     !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second > 0x8f);
  return valid ? size : 0;
}

/// C1 controls and the marks that turn the direction of a terminal's text are valid UTF-8, too.
bool is_printable(std::string_view character) {
  if (character.size() == 1) return character[0] >= 0x20 && character[0] != 0x7f;
  if (character.size() == 2) return !(character[0] == '\xc2' && character[1] < '\xa0');
  if (!character.starts_with("\xe2\x80") && !character.starts_with("\xe2\x81")) return true;
  const bool marks =
      character[1] == '\x80' && ((character[2] >= '\x8b' && character[2] <= '\x8f') ||
                                 (character[2] >= '\xa8' && character[2] <= '\xae'));
  return !marks && !(character[1] == '\x81' && character[2] >= '\xa0' && character[2] <= '\xaf');
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string shown_path(std::string_view path) {
  std::string shown;
  std::size_t at = 0;
  while (at < path.size() && at < kMostShown) {
    const std::string_view rest = path.substr(at);
    const std::size_t size = character_size(rest);
    if (size > 0 && is_printable(rest.substr(0, size)) && rest[0] != '\\') {
      shown += rest.substr(0, size);
    } else {
      for (const char byte : rest.substr(0, std::max<std::size_t>(size, 1))) {
        const std::array<unsigned char, 1> bytes{static_cast<unsigned char>(byte)};
        shown += "\\x" + hexadecimal(bytes);
      }
    }
    at += std::max<std::size_t>(size, 1);
  }
  return at < path.size() ? shown + "..." : shown;
}

std::string escaped_field(std::string_view text) {
  std::string field;
  field.reserve(text.size());
  for (const char byte : text) {
    switch (byte) {
      case '\\':
        field += "\\\\";
        break;
      case '\t':
        field += "\\t";
        break;
      case '\n':
        field += "\\n";
        break;
      default:
        field += byte;
    }
  }
  return field;
}

std::optional<std::string> unescaped_field(std::string_view field) {
  std::string text;
  text.reserve(field.size());
  for (std::size_t at = 0; at < field.size(); ++at) {
    if (field[at] == '\t' || field[at] == '\n') return std::nullopt;
    if (field[at] != '\\') {
      text += field[at];
      continue;
    }
    const char escape = ++at < field.size() ? field[at] : '\0';
    if (escape != '\\' && escape != 't' && escape != 'n') return std::nullopt;
    text += escape == 't' ? '\t' : escape == 'n' ? '\n' : '\\';
  }
  return text;
}

}  // namespace muster::files
