#include "learning/event_rate.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace muster {
namespace {

Instant at(double seconds) {
  return Instant{from_seconds(seconds)};
}

TEST(EventRate, is_the_inverse_of_the_mean_gap) {
  EventRate rate;
  for (double s : {100.0, 250.0, 700.0, 1300.0}) rate.add(at(s));
  ASSERT_TRUE(rate.per_s().has_value());
  EXPECT_DOUBLE_EQ(*rate.per_s(), 3.0 / 1200.0);
  EXPECT_EQ(rate.count(), 4u);
  EXPECT_EQ(rate.first(), at(100));
}

TEST(EventRate, is_unknown_before_two_different_times) {
  EventRate rate;
  EXPECT_FALSE(rate.per_s().has_value());
  rate.add(at(5));
  EXPECT_FALSE(rate.per_s().has_value());
  rate.add(at(5));
  EXPECT_FALSE(rate.per_s().has_value());
  rate.add(at(9));
  EXPECT_DOUBLE_EQ(*rate.per_s(), 2.0 / 4.0);
}

TEST(MeanTimeToSuccess, follows_the_formula_of_the_paper) {
  // An event every 600 s of which a tenth leads to a Full Reconfiguration.
  EXPECT_DOUBLE_EQ(*mean_time_to_success_s(1.0 / 600, 0.1), -600 / std::log(0.9));
  // Every second event: 600 / ln 2.
  EXPECT_NEAR(*mean_time_to_success_s(1.0 / 600, 0.5), 865.617, 1e-3);
}

TEST(MeanTimeToSuccess, is_the_integral_of_the_survival_function) {
  const double rate = 1.0 / 300;
  const double probability = 0.2;
  double integral = 0;
  const double step = 0.5;
  for (double x = step / 2; x < 60000; x += step) {
    integral += std::pow(1 - probability, rate * x) * step;
  }
  EXPECT_NEAR(*mean_time_to_success_s(rate, probability), integral, 1e-2);
}

TEST(MeanTimeToSuccess, is_zero_when_every_event_counts_and_undefined_otherwise) {
  EXPECT_EQ(mean_time_to_success_s(0.1, 1), 0.0);
  EXPECT_FALSE(mean_time_to_success_s(0.1, 0).has_value());
  EXPECT_FALSE(mean_time_to_success_s(0.1, 1.5).has_value());
  EXPECT_FALSE(mean_time_to_success_s(0, 0.5).has_value());
  EXPECT_FALSE(mean_time_to_success_s(std::nan(""), 0.5).has_value());
}

}  // namespace
}  // namespace muster
