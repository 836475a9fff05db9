#pragma once

#include <span>

#include "learning/job_features.hpp"

namespace muster {

/// Turns decision values into probabilities: Pr(long | f) = 1 / (1 + exp(a f + b)) (Platt), fitted
/// as libsvm does (Lin, Lin and Weng 2007).
struct Calibration {
  double a = -1;
  double b = 0;

  double probability_of_long(double decision) const;
  friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// Fits to decision values of jobs that the machine which gave them had not been trained on.
/// Bounded by a hundred Newton steps.
Calibration fit_calibration(std::span<const double> decisions, std::span<const JobLength> actual);

}  // namespace muster
