#include "model/name_pattern.hpp"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

bool matches(std::string_view pattern, std::string_view name) {
  return NamePattern(pattern).matches(name);
}

TEST(NamePattern, WithoutASignIsSomewhereInTheName) {
  EXPECT_TRUE(matches("eep", "sweep-3"));
  EXPECT_TRUE(matches("sweep", "sweep"));
  EXPECT_FALSE(matches("Sweep", "sweep"));
  EXPECT_FALSE(matches("sweep-", "sweep"));
  EXPECT_TRUE(matches("aab", "aaab")) << "it begins anew within what it has taken";
  EXPECT_TRUE(matches("", "any"));
}

TEST(NamePattern, WithASignIsTheWholeName) {
  EXPECT_TRUE(matches("sweep-*", "sweep-12"));
  EXPECT_TRUE(matches("sweep-*", "sweep-"));
  EXPECT_FALSE(matches("sweep-*", "a sweep-1"));
  EXPECT_TRUE(matches("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(matches("*a*b*", "xxbxxaxx"));
  EXPECT_TRUE(matches("a?c", "abc"));
  EXPECT_FALSE(matches("a?c", "ac"));
  EXPECT_FALSE(matches("a?", "abc"));
  EXPECT_TRUE(matches("**", ""));
}

TEST(NamePattern, TakesACharacterOfSeveralBytesAsOne) {
  EXPECT_TRUE(matches("?", "\u00e9"));
  EXPECT_TRUE(matches("caf?-*", "caf\u00e9-1"));
  EXPECT_FALSE(matches("?", "\u00e9\u00e9"));
  EXPECT_TRUE(matches("??", "\u20ac\u00e9"));
}

TEST(NamePattern, HasABoundThatStarsDoNotCountFor) {
  const std::string most(NamePattern::kMostBytes, 'x');
  EXPECT_TRUE(NamePattern::is_valid(most + "***"));
  EXPECT_FALSE(NamePattern::is_valid(most + "x"));
  EXPECT_TRUE(matches(most + "*", most + "y"));
  EXPECT_FALSE(matches(most + "*", most.substr(1) + "y"));
}

}  // namespace
}  // namespace muster
