#include "schedulers/eva/lifetime_estimator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/builders.hpp"

namespace muster::eva {
namespace {

using test::at_s;

LifetimeEstimator with_events(std::initializer_list<double> times, int full) {
  LifetimeEstimator lifetime_estimator;
  for (double s : times) lifetime_estimator.note_event(at_s(s));
  for (int i = 0; i < full; ++i) lifetime_estimator.full_chosen();
  return lifetime_estimator;
}

TEST(LifetimeEstimator, estimate_the_lifetime_of_a_layout_by_the_formula) {
  const LifetimeEstimator lifetime_estimator = with_events({100, 400, 700, 1300}, 1);
  for (const LifetimeEstimator::Estimate& estimate :
       {lifetime_estimator.estimate(at_s(1500)),
        lifetime_estimator.estimate_of_artifact(at_s(1500))}) {
    EXPECT_DOUBLE_EQ(*estimate.rate_per_s, 3.0 / 1200);
    EXPECT_EQ(estimate.probability, 0.25);
    EXPECT_DOUBLE_EQ(*estimate.lifetime_s, -400 / std::log(0.75));
  }
}

TEST(LifetimeEstimator, take_the_time_watched_while_full_was_never_chosen) {
  const LifetimeEstimator lifetime_estimator = with_events({100, 700}, 0);
  EXPECT_EQ(lifetime_estimator.estimate(at_s(900)).lifetime_s, 800.0);
  EXPECT_EQ(lifetime_estimator.estimate_of_artifact(at_s(900)).lifetime_s, 900.0)
      << "since the cluster's start";
}

TEST(LifetimeEstimator, are_zero_or_undefined_where_the_formula_is) {
  EXPECT_EQ(with_events({100, 700}, 2).estimate(at_s(900)).lifetime_s, 0.0);
  EXPECT_EQ(with_events({100, 700}, 2).estimate_of_artifact(at_s(900)).lifetime_s, 0.0);
  EXPECT_EQ(with_events({100, 700}, 3).estimate(at_s(900)).lifetime_s, 0.0);
  EXPECT_FALSE(with_events({100, 700}, 3).estimate_of_artifact(at_s(900)).lifetime_s);
  EXPECT_FALSE(with_events({100}, 1).estimate_of_artifact(at_s(900)).lifetime_s);
  EXPECT_EQ(with_events({100}, 1).estimate(at_s(900)).lifetime_s, 800.0);
}

}  // namespace
}  // namespace muster::eva
