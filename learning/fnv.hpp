#pragma once

#include <cstdint>
#include <string_view>

namespace muster {

/// The FNV-1a hash of a sequence of texts and numbers: equal on every machine. It tells chance
/// differences apart, not those that somebody makes on purpose.
class Fnv {
 public:
  /// ("ab", "c") and ("a", "bc") differ.
  constexpr Fnv& add(std::string_view text) {
    for (const char c : text) mix(static_cast<unsigned char>(c));
    return add(text.size());
  }
  constexpr Fnv& add(std::uint64_t number) {
    for (int byte = 0; byte < 8; ++byte) mix(static_cast<unsigned char>(number >> (8 * byte)));
    return *this;
  }
  constexpr std::uint64_t value() const { return hash_; }

 private:
  constexpr void mix(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ULL; }

  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace muster
