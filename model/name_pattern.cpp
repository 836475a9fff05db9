#include "model/name_pattern.hpp"

#include <algorithm>
#include <string>

namespace muster {
namespace {

/// Whether the byte goes on with a character of UTF-8 rather than begin one.
bool goes_on(unsigned byte) {
  return (byte & 0xC0U) == 0x80U;
}

}  // namespace

bool NamePattern::is_valid(std::string_view text) {
  const auto stars = static_cast<std::size_t>(std::count(text.begin(), text.end(), '*'));
  return text.size() - stars <= kMostBytes;
}

NamePattern::NamePattern(std::string_view text) {
  if (text.empty() || !is_valid(text)) {
    add("*");
  } else if (text.find_first_of("*?") != std::string_view::npos) {
    add(text);
  } else {
    add("*" + std::string(text) + "*");
  }
}

void NamePattern::add(std::string_view text) {
  for (const char each : text) {
    const std::uint64_t here = std::uint64_t{1} << size_;
    if (each == '*') {
      stays_ |= here;
      continue;
    }
    for (unsigned byte = 0; byte < takes_.size(); ++byte) {
      const bool leads_on = each == '?' ? !goes_on(byte) : byte == static_cast<unsigned char>(each);
      if (leads_on) takes_[byte] |= here;
    }
    ++size_;
    if (each == '?') inside_ |= here << 1;
  }
}

bool NamePattern::matches(std::string_view name) const {
  std::uint64_t places = 1;
  for (const char each : name) {
    const auto byte = static_cast<unsigned char>(each);
    std::uint64_t next = ((places & takes_[byte]) << 1) | (places & stays_);
    if (goes_on(byte)) next |= places & inside_;
    places = next;
    if (places == 0) return false;
  }
  return ((places >> size_) & 1) != 0;
}

}  // namespace muster
