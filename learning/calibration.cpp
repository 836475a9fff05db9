#include "learning/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/check.hpp"

// Platt's probabilities: maximum likelihood of a logistic function, by Newton's method with
// backtracking as Lin, Lin and Weng give it (2007). Steps, ridge and tolerances are theirs.

namespace muster {
namespace {

constexpr int kNewtonSteps = 100;
constexpr double kLeastStep = 1e-10;
constexpr double kRidge = 1e-12;
constexpr double kFlat = 1e-5;

/// 1 / (1 + exp(x)) without overflow.
double falling_logistic(double x) {
  return x >= 0 ? std::exp(-x) / (1 + std::exp(-x)) : 1 / (1 + std::exp(x));
}

/// The likelihood that is to be maximised, by its negative logarithm.
struct Fit {
  std::span<const double> decisions;
  std::vector<double> targets;

  double loss(const Calibration& at) const {
    double sum = 0;
    for (std::size_t i = 0; i < decisions.size(); ++i) {
      const double x = at.a * decisions[i] + at.b;
      sum += (x >= 0 ? targets[i] : targets[i] - 1) * x + std::log1p(std::exp(-std::abs(x)));
    }
    return sum;
  }
};

/// Where the loss falls: its gradient, and the step of Newton's method.
struct Slope {
  double gradient_a = 0, gradient_b = 0;
  double step_a = 0, step_b = 0;

  bool flat() const { return std::abs(gradient_a) < kFlat && std::abs(gradient_b) < kFlat; }
  double along_step() const { return gradient_a * step_a + gradient_b * step_b; }
};

Slope slope_of(const Fit& fit, const Calibration& at) {
  Slope slope;
  // The ridge keeps the determinant above 0 where all decisions are equal.
  double aa = kRidge, bb = kRidge, ab = 0;
  for (std::size_t i = 0; i < fit.decisions.size(); ++i) {
    const double f = fit.decisions[i];
    const double p = falling_logistic(at.a * f + at.b);
    const double curvature = p * (1 - p);
    aa += f * f * curvature;
    bb += curvature;
    ab += f * curvature;
    slope.gradient_a += f * (fit.targets[i] - p);
    slope.gradient_b += fit.targets[i] - p;
  }
  const double determinant = aa * bb - ab * ab;
  slope.step_a = -(bb * slope.gradient_a - ab * slope.gradient_b) / determinant;
  slope.step_b = -(aa * slope.gradient_b - ab * slope.gradient_a) / determinant;
  return slope;
}

/// Goes down along the step, at most all of it; false when it leads nowhere.
bool descend(const Fit& fit, const Slope& slope, Calibration& at) {
  const double before = fit.loss(at);
  // Halves the step until the loss falls by a part of what the slope promises (Armijo).
  for (double part = 1; part >= kLeastStep; part /= 2) {
    const Calibration next{at.a + part * slope.step_a, at.b + part * slope.step_b};
    if (fit.loss(next) < before + 1e-4 * part * slope.along_step()) {
      at = next;
      return true;
    }
  }
  return false;
}

}  // namespace

double Calibration::probability_of_long(double decision) const {
  return falling_logistic(a * decision + b);
}

Calibration fit_calibration(std::span<const double> decisions, std::span<const JobLength> actual) {
  MUSTER_CHECK(decisions.size() == actual.size(), "one decision value a job");
  const auto longs =
      static_cast<double>(std::count(actual.begin(), actual.end(), JobLength::long_run));
  const double shorts = static_cast<double>(actual.size()) - longs;
  Fit fit{decisions, {}};
  for (const JobLength length : actual) {
    // Targets a little off 0 and 1: more jobs of the same kind may yet be otherwise.
    fit.targets.push_back(length == JobLength::long_run ? (longs + 1) / (longs + 2)
                                                        : 1 / (shorts + 2));
  }
  // Starts at the share of long jobs, whatever the decision.
  Calibration at{0, std::log((shorts + 1) / (longs + 1))};
  for (int step = 0; step < kNewtonSteps; ++step) {
    const Slope slope = slope_of(fit, at);
    if (slope.flat() || !descend(fit, slope, at)) break;
  }
  at.a = std::clamp(at.a, -kGreatestLearnt, kGreatestLearnt);
  at.b = std::clamp(at.b, -kGreatestLearnt, kGreatestLearnt);
  return at;
}

}  // namespace muster
