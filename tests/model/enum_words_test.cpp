#include "model/enum_words.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/cluster_state.hpp"
#include "model/views.hpp"

namespace muster {
namespace {

enum class Light : std::uint8_t { red, amber, deep_green };
constexpr auto words_of(Light) {
  using E = Light;
  return std::to_array<EnumWord<E>>(
      {{E::red, "red"}, {E::amber, "amber"}, {E::deep_green, "deep green"}});
}

enum class Signal : std::uint8_t { DEEP_GREEN, RED, AMBER, DARK };

TEST(EnumWords, CountTheEnumeratorsByThemselves) {
  EXPECT_EQ(kEnumerators<Light>, 3U);
  EXPECT_EQ(kAllOf<Light>[2], Light::deep_green);
  EXPECT_EQ(kSpellings<Light>[2], "deep_green");
}

TEST(EnumWords, LeadFromAnEnumeratorToItsWordAndBack) {
  EXPECT_EQ(name_of(Light::deep_green), "deep green");
  EXPECT_EQ(named<Light>("deep green"), Light::deep_green);
  EXPECT_FALSE(named<Light>("deep_green").has_value());
  EXPECT_EQ(name_of(static_cast<Light>(3)), "?");
}

TEST(EnumWords, LeadToTheEnumeratorOfThatNameInAnotherOrder) {
  EXPECT_EQ(counterpart<Signal>(Light::deep_green), Signal::DEEP_GREEN);
  EXPECT_EQ(counterpart<Signal>(Light::amber), Signal::AMBER);
}

template <class E>
void expect_distinct_words() {
  const auto words = choices_of<E>();
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), words.size());
}

// A reader of logs and of answers could not tell two of them apart.
TEST(EnumWords, DifferWithinAnEnumeration) {
  expect_distinct_words<RefusalCode>();
  expect_distinct_words<CauseCode>();
  expect_distinct_words<CloudReason>();
  expect_distinct_words<FailureKind>();
  expect_distinct_words<ShownState>();
  expect_distinct_words<ShownPhase>();
}

}  // namespace
}  // namespace muster
