// Numbers as people read them.
#include "model/rounded_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace muster {
namespace {

TEST(RoundedText, HasNoExponentHoweverLargeOrSmallTheNumber) {
  EXPECT_EQ(rounded_text(16'150), "16150");
  EXPECT_EQ(rounded_text(16'150, 4), "16150") << "a whole number keeps its digits";
  EXPECT_EQ(rounded_text(1e6), "1000000");
  EXPECT_EQ(rounded_text(2'097'152), "2097152");
  EXPECT_EQ(rounded_text(0.00002, 3), "0.00002");
  EXPECT_EQ(rounded_text(-1.5e-13), "0");
}

TEST(RoundedText, IsRoundedAndHasNoZerosAtItsEnd) {
  EXPECT_EQ(rounded_text(0.5), "0.5");
  EXPECT_EQ(rounded_text(8), "8");
  EXPECT_EQ(rounded_text(0), "0");
  EXPECT_EQ(rounded_text(100), "100");
  EXPECT_EQ(rounded_text(3.14159265, 4), "3.142");
  EXPECT_EQ(rounded_text(0.0123456, 3), "0.0123");
  EXPECT_EQ(rounded_text(-2.50), "-2.5");
  EXPECT_EQ(rounded_text(9.9999999, 4), "10");
}

TEST(RoundedText, SaysThatANumberIsNone) {
  EXPECT_EQ(rounded_text(std::numeric_limits<double>::infinity()), "inf");
}

TEST(CountText, HasANounThatFitsTheCount) {
  EXPECT_EQ(count_text(0, "task"), "0 tasks");
  EXPECT_EQ(count_text(1, "task"), "1 task");
  EXPECT_EQ(count_text(2, "task"), "2 tasks");
}

}  // namespace
}  // namespace muster
