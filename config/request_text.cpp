#include "config/request_text.hpp"

#include <algorithm>
#include <array>

namespace muster::config {
namespace {

// What a task may be told about the cluster it could submit to.
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

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Form form = form_of(static_cast<unsigned char>(text[i]));
    if (form.bytes == 0 || i + form.bytes > text.size()) return false;
    for (std::size_t k = 1; k < form.bytes; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      if (byte < (k == 1 ? form.low : 0x80) || byte > (k == 1 ? form.high : 0xBF)) return false;
    }
    i += form.bytes;
  }
  return true;
}

bool is_one_line(std::string_view text) {
  const bool control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  return !control && is_utf8(text);
}

bool is_variable_name(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_own_variable(std::string_view name) {
  if (!name.starts_with("MUSTER_")) return false;
  return std::find(kClientVariables.begin(), kClientVariables.end(), name) ==
         kClientVariables.end();
}

}  // namespace muster::config
