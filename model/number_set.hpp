#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace muster {

/// A set of numbers of which many are near each other: a bit a number, in blocks of 4,096. The jobs
/// of a site have the numbers from 1 on, so whoever gets some of them needs an eighth of a byte for
/// each that the site has given out.
class NumberSet {
 public:
  static constexpr std::uint64_t kBlock = 4096;
  static constexpr std::uint64_t kWord = 64;
  using Bits = std::array<std::uint64_t, kBlock / kWord>;

  void add(std::uint64_t number) {
    blocks_[number / kBlock][word_of(number)] |= std::uint64_t{1} << (number % kWord);
  }
  bool contains(std::uint64_t number) const {
    const auto block = blocks_.find(number / kBlock);
    return block != blocks_.end() && (block->second[word_of(number)] >> (number % kWord) & 1) != 0;
  }
  bool empty() const { return blocks_.empty(); }
  /// The highest of its numbers that are lower than the bound.
  std::optional<std::uint64_t> highest_below(std::uint64_t bound) const {
    if (bound == 0) return std::nullopt;
    const std::uint64_t last = bound - 1;
    for (auto block = blocks_.upper_bound(last / kBlock); block != blocks_.begin();) {
      --block;
      const bool cut = block->first == last / kBlock;
      for (std::size_t word = cut ? word_of(last) + 1 : kBlock / kWord; word-- > 0;) {
        std::uint64_t bits = block->second[word];
        if (cut && word == word_of(last)) bits &= ~std::uint64_t{0} >> (kWord - 1 - last % kWord);
        if (bits == 0) continue;
        return block->first * kBlock + word * kWord + (kWord - 1) - std::countl_zero(bits);
      }
    }
    return std::nullopt;
  }

  /// Its bits; no bits are set of a block without numbers.
  Bits block(std::uint64_t block) const {
    const auto found = blocks_.find(block);
    return found == blocks_.end() ? Bits{} : found->second;
  }
  /// By their first number over kBlock.
  const std::map<std::uint64_t, Bits>& blocks() const { return blocks_; }
  void set_block(std::uint64_t block, const Bits& bits) { blocks_[block] = bits; }

  friend bool operator==(const NumberSet&, const NumberSet&) = default;

 private:
  static std::size_t word_of(std::uint64_t number) {
    return static_cast<std::size_t>(number % kBlock / kWord);
  }

  std::map<std::uint64_t, Bits> blocks_;
};

}  // namespace muster
