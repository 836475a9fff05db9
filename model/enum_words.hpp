#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/check.hpp"

// The words of enumerations: each has one table, beside the enumeration, which `words_of` returns.
// The words stand in event logs, in the API's answers, in configs and in reports. Logs that are
// kept hold them, so a word may not change.
//
//   enum class Market : std::uint8_t { on_demand, spot };
//   constexpr auto words_of(Market) {
//     return std::to_array<EnumWord<Market>>(
//         {{Market::on_demand, "on-demand"}, {Market::spot, "spot"}});
//   }
//
// An enumerator without a word, or a word in the wrong place, is an error of the compiler wherever
// the table is used. Enumerators count from 0 without a gap.

namespace muster {

/// A row of an enumeration's table.
template <class E>
struct EnumWord {
  E value;
  std::string_view word;
};

namespace enums {

/// An enumerator as the source spells it, without its scope; empty for a number that is not an
/// enumerator. The compiler writes such a number as a cast, "(muster::Market)7".
template <class E, E kValue>
constexpr std::string_view spelling() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("kValue = ") + 9);
  text = text.substr(0, text.find_first_of(";]"));
  if (text.front() == '(') return {};
  return text.substr(text.rfind(':') + 1);
}

/// How many numbers from `kFrom` on are enumerators.
template <class E, std::size_t kFrom = 0>
constexpr std::size_t count() {
  if constexpr (spelling<E, static_cast<E>(kFrom)>().empty()) {
    return kFrom;
  } else {
    return count<E, kFrom + 1>();
  }
}

/// The small letter of a capital one.
constexpr char small(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// Whether the two differ in the case of letters alone.
constexpr bool alike(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return small(x) == small(y); });
}

}  // namespace enums

/// How many enumerators there are.
template <class E>
inline constexpr std::size_t kEnumerators = enums::count<E>();

/// All enumerators, in their order.
template <class E>
inline constexpr std::array<E, kEnumerators<E>> kAllOf = [] {
  std::array<E, kEnumerators<E>> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<E>(i);
  return all;
}();

/// The enumerators as the source spells them.
template <class E>
inline constexpr auto kSpellings = []<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<std::string_view, sizeof...(kIndex)>{
      enums::spelling<E, static_cast<E>(kIndex)>()...};
}
(std::make_index_sequence<kEnumerators<E>>{});

/// A table for an enumeration whose words are as the source spells them.
template <class E>
constexpr auto words_as_spelt() {
  std::array<EnumWord<E>, kEnumerators<E>> table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = {static_cast<E>(i), kSpellings<E>[i]};
  return table;
}

/// An enumeration that has a table.
template <class E>
concept Worded = std::is_enum_v<E> && requires {
  words_of(E{});
};

/// The words of an enumeration, by the position of their enumerators.
template <Worded E>
inline constexpr auto kWords = [] {
  constexpr auto kTable = words_of(E{});
  static_assert(kTable.size() == kEnumerators<E>, "every enumerator has one word");
  std::array<std::string_view, kTable.size()> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    // Evaluated by the compiler, for which the throw is an error.
    if (kTable[i].value != static_cast<E>(i)) throw "words stand in the order of the enumerators";
    words[i] = kTable[i].word;
  }
  return words;
}();

/// The enumerator's word; "?" for a number that is not an enumerator.
template <Worded E>
constexpr std::string_view name_of(E value) {
  const auto index = static_cast<std::size_t>(value);
  return index < kWords<E>.size() ? kWords<E>[index] : std::string_view("?");
}

/// The enumerator of that word.
template <Worded E>
constexpr std::optional<E> named(std::string_view word) {
  for (const E value : kAllOf<E>) {
    if (kWords<E>[static_cast<std::size_t>(value)] == word) return value;
  }
  return std::nullopt;
}

/// The words as texts, for tables that hold choices of any origin.
template <Worded E>
std::vector<std::string> choices_of() {
  return {kWords<E>.begin(), kWords<E>.end()};
}

/// The enumerator of `To` with the name of that one of `From`, whose case does not count. One of
/// `From` that has no counterpart is an error of the compiler.
template <class To, class From>
constexpr To counterpart(From from) {
  constexpr auto kTable = [] {
    std::array<To, kEnumerators<From>> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
      std::size_t at = 0;
      // Past the last one is out of the array, which a constant expression may not be.
      while (!enums::alike(kSpellings<To>[at], kSpellings<From>[i])) ++at;
      table[i] = static_cast<To>(at);
    }
    return table;
  }();
  const auto index = static_cast<std::size_t>(from);
  MUSTER_CHECK(index < kTable.size(), "a number that is no enumerator");
  return kTable[index];
}

}  // namespace muster
