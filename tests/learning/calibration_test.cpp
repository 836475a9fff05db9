#include "learning/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "model/rng.hpp"

namespace muster {
namespace {

TEST(Calibration, finds_the_curve_that_the_lengths_were_drawn_from) {
  const Calibration truth{-2, 0.5};
  Rng rng(3);
  std::vector<double> decisions;
  std::vector<JobLength> lengths;
  for (int i = 0; i < 20'000; ++i) {
    decisions.push_back(rng.uniform(-3, 3));
    const bool is_long = rng.uniform() < truth.probability_of_long(decisions.back());
    lengths.push_back(is_long ? JobLength::long_run : JobLength::short_run);
  }
  const Calibration found = fit_calibration(decisions, lengths);
  EXPECT_NEAR(found.a, truth.a, 0.1);
  EXPECT_NEAR(found.b, truth.b, 0.1);
}

TEST(Calibration, of_decisions_that_say_nothing_is_the_share_of_the_lengths) {
  const std::vector<double> decisions(8, 0.3);
  std::vector<JobLength> lengths(8, JobLength::short_run);
  lengths[0] = lengths[1] = JobLength::long_run;
  const Calibration found = fit_calibration(decisions, lengths);
  EXPECT_NEAR(found.probability_of_long(0.3), 0.28, 0.03);
}

TEST(Calibration, stays_finite_when_the_decisions_part_the_lengths_exactly) {
  const std::vector<double> decisions = {-1, -2, -1.5, 1, 2, 1.5};
  const std::vector<JobLength> lengths = {JobLength::short_run, JobLength::short_run,
                                          JobLength::short_run, JobLength::long_run,
                                          JobLength::long_run,  JobLength::long_run};
  const Calibration found = fit_calibration(decisions, lengths);
  EXPECT_TRUE(std::isfinite(found.a) && std::isfinite(found.b));
  EXPECT_GT(found.probability_of_long(1), 0.7);
  EXPECT_LT(found.probability_of_long(-1), 0.3);
  EXPECT_GE(found.probability_of_long(-1e9), 0);
  EXPECT_LE(found.probability_of_long(1e9), 1);
}

}  // namespace
}  // namespace muster
