#include "schedulers/saved_text.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace muster {
namespace {

using nlohmann::json;

constexpr const char* kHex = "hex";

/// By the library's own check, which is what a text has to pass.
bool is_json_text(const std::string& text) {
  try {
    (void)json(text).dump();
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

}  // namespace

json saved_text(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(name);
  if (is_json_text(text)) return text;
  std::string hex;
  for (const char byte : name) {
    const auto value = static_cast<unsigned char>(byte);
    hex += {kDigits[value >> 4U], kDigits[value & 15U]};
  }
  return {{kHex, hex}};
}

std::optional<std::string> loaded_text(const json& saved) {
  if (saved.is_string()) return saved.get<std::string>();
  if (!saved.is_object() || !saved.contains(kHex) || !saved[kHex].is_string()) return std::nullopt;
  const std::string hex = saved[kHex].get<std::string>();
  std::string name;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    unsigned value = 0;
    const char* const end = hex.data() + std::min(at + 2, hex.size());
    const auto read = std::from_chars(hex.data() + at, end, value, 16);
    if (read.ec != std::errc{} || read.ptr != hex.data() + at + 2) return std::nullopt;
    name += static_cast<char>(value);
  }
  return name;
}

}  // namespace muster
