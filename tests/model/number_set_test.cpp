#include "model/number_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace muster {
namespace {

TEST(NumberSet, holds_what_was_added_and_nothing_else) {
  std::mt19937_64 dice(7);
  NumberSet numbers;
  std::set<std::uint64_t> plain;
  for (int i = 0; i < 5'000; ++i) {
    const std::uint64_t site = dice() % 3 * 1'000'000'000;
    const std::uint64_t number = site + dice() % 20'000;
    numbers.add(number);
    plain.insert(number);
    const std::uint64_t asked = dice() % 3 * 1'000'000'000 + dice() % 21'000;
    ASSERT_EQ(numbers.contains(asked), plain.contains(asked)) << asked;
  }
}

TEST(NumberSet, knows_its_highest_number_below_any_bound) {
  std::mt19937_64 dice(2);
  NumberSet numbers;
  std::set<std::uint64_t> plain;
  EXPECT_EQ(numbers.highest_below(UINT64_MAX), std::nullopt);
  for (int i = 0; i < 20'000; ++i) {
    if (i % 20 == 0) {
      const std::uint64_t number = dice() % 3 * 1'000'000'000 + dice() % 21'000;
      numbers.add(number);
      plain.insert(number);
    }
    const std::uint64_t bound = dice() % 4 * 1'000'000'000 + dice() % 21'000;
    const auto above = plain.lower_bound(bound);
    const auto highest = above == plain.begin() ? std::nullopt : std::optional(*std::prev(above));
    ASSERT_EQ(numbers.highest_below(bound), highest) << bound;
  }
}

TEST(NumberSet, takes_a_bit_for_each_number_up_to_the_highest_of_a_site) {
  NumberSet numbers;
  for (std::uint64_t number = 1; number < 1'000'000; number += 3) numbers.add(number);
  EXPECT_LE(numbers.blocks().size() * sizeof(NumberSet::Bits), 1'000'000u / 8 + 512);
}

TEST(NumberSet, is_the_same_again_from_its_blocks) {
  NumberSet numbers;
  for (std::uint64_t number : {1u, 63u, 64u, 4095u, 4096u, 1'000'000'001u}) numbers.add(number);
  EXPECT_EQ(NumberSet{}.block(7), NumberSet::Bits{});
  NumberSet again;
  for (const auto& [block, bits] : numbers.blocks()) again.set_block(block, bits);
  EXPECT_TRUE(again == numbers);
}

}  // namespace
}  // namespace muster
