#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster {

/// A pattern of names: with `*` (any text) or `?` (one character) of the whole name, else a text
/// that is somewhere in it. Tells capital letters from small ones.
class NamePattern {
 public:
  /// Bytes that a pattern may have besides its stars.
  static constexpr std::size_t kMostBytes = 60;

  /// Whether a pattern of that text can be made.
  static bool is_valid(std::string_view text);
  /// An invalid text, and an empty one, matches every name.
  explicit NamePattern(std::string_view text);

  /// O(bytes of the name), whatever the pattern.
  bool matches(std::string_view name) const;

 private:
  void add(std::string_view text);

  // One bit for each number of the pattern's bytes that may have been matched so far.
  std::array<std::uint64_t, 256> takes_{};  ///< of a byte: the places from which it leads on
  std::uint64_t stays_ = 0;                 ///< places at which any byte is passed over
  std::uint64_t inside_ = 0;  ///< places behind a `?`, whose character may have more bytes
  std::size_t size_ = 0;
};

}  // namespace muster
