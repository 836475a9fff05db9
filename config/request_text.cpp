#include "config/request_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace muster::config {
namespace {

// Variables that tell a task about the cluster it could submit to.
constexpr std::array<std::string_view, 4> kClientVariables = {
    "MUSTER_API", "MUSTER_TOKEN", "MUSTER_TOKEN_FILE", "MUSTER_CLUSTER"};

/// How many bytes a character that begins with `lead` has, and what its second one lies between;
/// no bytes when nothing begins so.
struct Form {
  std::size_t bytes = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

Form form_of(unsigned char lead) {
  if (lead < 0x80) return {1};
  if (lead < 0xC2) return {};
  if (lead < 0xE0) return {2};
  if (lead < 0xF0) {
    return {3, static_cast<unsigned char>(lead == 0xE0 ? 0xA0 : 0x80),
            static_cast<unsigned char>(lead == 0xED ? 0x9F : 0xBF)};
  }
  if (lead < 0xF5) {
    return {4, static_cast<unsigned char>(lead == 0xF0 ? 0x90 : 0x80),
            static_cast<unsigned char>(lead == 0xF4 ? 0x8F : 0xBF)};
  }
  return {};
}

struct CharacterRange {
  char32_t first;
  char32_t last;
};

// Unicode 15: category Cf, Zl and Zp, and what is drawn as nothing; variation selectors, of which
// emoji are made, are not among them.
constexpr std::array<CharacterRange, 33> kHidden = {
    {{0x0000, 0x001F},    {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x034F, 0x034F},
     {0x0600, 0x0605},    {0x061C, 0x061C},   {0x06DD, 0x06DD},   {0x070F, 0x070F},
     {0x0890, 0x0891},    {0x08E2, 0x08E2},   {0x115F, 0x1160},   {0x17B4, 0x17B5},
     {0x180B, 0x180F},    {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
     {0x3164, 0x3164},    {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
     {0x110BD, 0x110BD},  {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3},
     {0x1D173, 0x1D17A},  {0xE0000, 0xE0FFF}, {0xFFFE, 0xFFFF},   {0x1FFFE, 0x1FFFF},
     {0xD800, 0xDFFF},    {0xFDD0, 0xFDEF},   {0x1D159, 0x1D159}, {0x16FE4, 0x16FE4},
     {0x10FFFE, 0x10FFFF}}};

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

/// A byte that is not the first one of its character.
bool goes_on(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Blanks of any width (Unicode's Zs), the blank Braille pattern and variation selectors, which are
/// nothing by themselves.
bool is_blank(char32_t c) {
  return c == ' ' || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F ||
         c == 0x205F || c == 0x3000 || c == 0x2800 || (c >= 0xFE00 && c <= 0xFE0F);
}

}  // namespace

std::optional<char32_t> first_character(std::string_view text, std::size_t& bytes) {
  const auto lead = static_cast<unsigned char>(text.front());
  const Form form = form_of(lead);
  bytes = 1;
  if (form.bytes == 0 || form.bytes > text.size()) return std::nullopt;
  // Of a lead byte the bits behind those that say how many bytes there are.
  char32_t character = form.bytes == 1 ? lead : lead & (0x7FU >> form.bytes);
  for (std::size_t k = 1; k < form.bytes; ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    if (byte < (k == 1 ? form.low : 0x80) || byte > (k == 1 ? form.high : 0xBF)) {
      return std::nullopt;
    }
    character = (character << 6) | (byte & 0x3FU);
  }
  bytes = form.bytes;
  return character;
}

bool is_utf8(std::string_view text) {
  for (std::size_t bytes = 0; !text.empty(); text.remove_prefix(bytes)) {
    if (!first_character(text, bytes)) return false;
  }
  return true;
}

bool is_hidden(char32_t character) {
  return std::any_of(kHidden.begin(), kHidden.end(), [&](const CharacterRange& range) {
    return character >= range.first && character <= range.last;
  });
}

std::string readable(std::string_view text, bool keep_breaks) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t bytes = 0; !text.empty(); text.remove_prefix(bytes)) {
    const auto character = first_character(text, bytes);
    if (!character) {
      // Continuation bytes without a beginning belong to the one mistake.
      while (bytes < std::min<std::size_t>(text.size(), 4) && goes_on(text[bytes])) ++bytes;
      out += '?';
    } else if (*character == '\n' || *character == '\t' || *character == '\r') {
      out += *character == '\n' && keep_breaks ? '\n' : ' ';
    } else if (is_control(*character)) {
      out += '?';
    } else if (is_hidden(*character)) {
      out += fmt::format("\\u{:04X}", static_cast<std::uint32_t>(*character));
    } else {
      out += text.substr(0, bytes);
    }
  }
  return out;
}

bool is_label(std::string_view text) {
  bool seen = false;
  for (std::size_t bytes = 0; !text.empty(); text.remove_prefix(bytes)) {
    const auto character = first_character(text, bytes);
    if (!character || is_hidden(*character)) return false;
    seen |= !is_blank(*character);
  }
  return seen;
}

bool is_one_line(std::string_view text) {
  const bool control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  return !control && is_utf8(text);
}

bool is_variable_name(std::string_view text) {
  constexpr std::string_view kRefused("=\0", 2);
  return !text.empty() && text.find_first_of(kRefused) == std::string_view::npos && is_utf8(text);
}

bool is_own_variable(std::string_view name) {
  if (!name.starts_with("MUSTER_")) return false;
  return std::find(kClientVariables.begin(), kClientVariables.end(), name) ==
         kClientVariables.end();
}

}  // namespace muster::config
