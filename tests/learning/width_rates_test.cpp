#include "learning/width_rates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace muster {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

auto are_near(const std::vector<double>& values) {
  return Pointwise(DoubleNear(1e-12), values);
}

TEST(WidthRates, KnowNothingBeforeTheFirstObservation) {
  const WidthRates rates;
  EXPECT_EQ(rates.width_cap(), 1U);
  EXPECT_EQ(rates.rate_per_s(), 0);
  EXPECT_TRUE(rates.speedup().empty());
}

TEST(WidthRates, OneWidthMakesTwiceAsManyWorkersTwiceAsFast) {
  WidthRates rates;
  rates.observe(2, 100, 10);
  EXPECT_DOUBLE_EQ(rates.rate_per_s(), 5);
  EXPECT_THAT(rates.speedup(), are_near({1, 2, 3, 4}));
}

TEST(WidthRates, RatesAreOverAllTheTimeAtAWidth) {
  WidthRates rates;
  rates.observe(1, 10, 10);
  rates.observe(1, 90, 30);
  EXPECT_DOUBLE_EQ(rates.rate_per_s(), 2.5);
}

TEST(WidthRates, BetweenAndBeyondWidthsThatWereSeenTheyAreLinear) {
  WidthRates rates;
  rates.observe(1, 10, 1);
  rates.observe(3, 20, 1);
  EXPECT_THAT(rates.speedup(), are_near({1, 1.5, 2, 2.5, 3, 3.5}));
}

TEST(WidthRates, BeyondAWidthThatMadeJobsSlowerNothingIsGained) {
  WidthRates rates;
  rates.observe(1, 10, 1);
  rates.observe(2, 8, 1);
  EXPECT_THAT(rates.speedup(), ElementsAre(1, 0.8, 0.8, 0.8));
}

TEST(WidthRates, WhatIsNoProgressOrNoTimeIsLeftOut) {
  WidthRates rates;
  rates.observe(1, 0, 10);
  rates.observe(1, 10, 0);
  rates.observe(0, 10, 10);
  rates.observe(kMostWidths + 1, 10, 10);
  EXPECT_TRUE(rates.empty());
}

TEST(WidthRates, AreTheSameAfterWritingAndReading) {
  WidthRates rates;
  rates.observe(1, 10, 3);
  rates.observe(5, 20, 1);
  ModelWriter out;
  rates.write(out);
  const std::string text = std::move(out).text();
  ModelReader in(text);
  const WidthRates read = WidthRates::read(in);
  ASSERT_TRUE(in.finish()) << in.error();
  EXPECT_EQ(read.speedup(), rates.speedup());
  EXPECT_EQ(read.rate_per_s(), rates.rate_per_s());
}

TEST(WidthRates, TakeUpNoMoreThanCanBeWrittenDown) {
  WidthRates rates;
  rates.observe(1, kGreatestLearnt / 2, kGreatestLearnt / 4);
  rates.observe(1, kGreatestLearnt, 1);
  rates.observe(1, 1, kGreatestLearnt);
  EXPECT_DOUBLE_EQ(rates.rate_per_s(), 2) << "the sums would be beyond the greatest number";
  rates.observe(1, kGreatestLearnt / 2, kGreatestLearnt / 4);
  EXPECT_DOUBLE_EQ(rates.rate_per_s(), 2);
  rates.observe(1, kGreatestLearnt / 1000, 1);
  EXPECT_DOUBLE_EQ(rates.rate_per_s(), 2) << "they are full";
}

TEST(WidthRates, LeaveOutWhatIsNoNumberOrTooLittle) {
  WidthRates rates;
  rates.observe(1, std::nan(""), 10);
  rates.observe(1, 10, std::numeric_limits<double>::infinity());
  rates.observe(1, kLeastLearnt / 2, 10);
  rates.observe(1, 10, kLeastLearnt / 2);
  EXPECT_TRUE(rates.empty());
  rates.observe(1, kLeastLearnt, kLeastLearnt);
  rates.observe(kMostWidths, 1, 1);
  EXPECT_EQ(rates.width_cap(), kMostWidths) << "and no wider";
}

TEST(WidthRates, ReadBackWithoutWhatEarlierVersionsTookUp) {
  ModelWriter out;
  out.line("widths").whole(2);
  out.line("width").whole(1).number(0).number(10);
  out.line("width").whole(2).number(20).number(10);
  const std::string text = std::move(out).text();
  ModelReader in(text);
  const WidthRates read = WidthRates::read(in);
  EXPECT_TRUE(in.finish());
  EXPECT_DOUBLE_EQ(read.rate_per_s(), 1) << "half of what two workers do";
}

}  // namespace
}  // namespace muster
