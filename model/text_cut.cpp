#include "model/text_cut.hpp"

namespace muster {

std::string_view whole_characters(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  std::size_t end = most_bytes;
  // Bytes of a character after its first one begin with the bits 10.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

}  // namespace muster
