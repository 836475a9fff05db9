#include "learning/confusion.hpp"

#include <gtest/gtest.h>

#include "tests/learning/lengths.hpp"

namespace muster {
namespace {

using test::kLong;
using test::kShort;

Confusion of(std::size_t short_short, std::size_t short_long, std::size_t long_short,
             std::size_t long_long) {
  Confusion confusion;
  const auto add = [&](std::size_t times, JobLength actual, JobLength predicted) {
    for (std::size_t i = 0; i < times; ++i) confusion.add(actual, predicted);
  };
  add(short_short, kShort, kShort);
  add(short_long, kShort, kLong);
  add(long_short, kLong, kShort);
  add(long_long, kLong, kLong);
  return confusion;
}

TEST(Confusion, gives_the_usual_figures) {
  const Confusion c = of(60, 20, 5, 15);
  EXPECT_DOUBLE_EQ(*c.accuracy(), 0.75);
  EXPECT_DOUBLE_EQ(*c.precision(kShort), 60.0 / 65);
  EXPECT_DOUBLE_EQ(*c.recall(kShort), 0.75);
  EXPECT_DOUBLE_EQ(*c.precision(kLong), 15.0 / 35);
  EXPECT_DOUBLE_EQ(*c.recall(kLong), 0.75);
  EXPECT_DOUBLE_EQ(*c.balanced_accuracy(), 0.75);
}

TEST(Confusion, sees_through_an_answer_that_never_changes) {
  const Confusion c = of(90, 0, 10, 0);
  EXPECT_DOUBLE_EQ(*c.accuracy(), 0.9);
  EXPECT_DOUBLE_EQ(*c.balanced_accuracy(), 0.5);
  EXPECT_EQ(c.precision(kLong), std::nullopt) << "nothing was taken for long";
}

TEST(Confusion, says_nothing_of_jobs_that_there_are_not) {
  EXPECT_EQ(Confusion().accuracy(), std::nullopt);
  EXPECT_EQ(Confusion().balanced_accuracy(), std::nullopt);
  EXPECT_EQ(of(3, 1, 0, 0).recall(kLong), std::nullopt);
  EXPECT_DOUBLE_EQ(*of(3, 1, 0, 0).balanced_accuracy(), 0.75);
}

}  // namespace
}  // namespace muster
