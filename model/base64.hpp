#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

/// The alphabet of RFC 4648, section 4.
inline constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as base64, with its padding.
inline std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto byte = i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U;
      group = group << 8 | byte;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= count ? kBase64[group >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

/// Bytes of base64 with its padding; nothing when the text is something else.
inline std::optional<std::string> from_base64(std::string_view text) {
  static constexpr std::uint8_t kNone = 64;
  static constexpr std::array<std::uint8_t, 256> kValues = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(kNone);
    for (std::size_t i = 0; i < kBase64.size(); ++i) {
      values[static_cast<unsigned char>(kBase64[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
  }();
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : (text.ends_with('=') ? 1 : 0);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t at = 0; at < text.size(); at += 4) {
    std::uint32_t group = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
      const bool is_padding = i >= text.size() - padding;
      const std::uint8_t value =
          is_padding ? std::uint8_t{0} : kValues[static_cast<unsigned char>(text[i])];
      if (value == kNone) return std::nullopt;
      group = group << 6 | value;
    }
    for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(group >> shift & 255);
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace muster
