#include "learning/bounded_minimum.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "learning/line_search.hpp"
#include "model/check.hpp"

namespace muster {
namespace {

constexpr std::size_t kCorrections = 10;      ///< pairs of steps and gradients that are remembered
constexpr std::uint32_t kMostLineSteps = 20;  ///< of one search
constexpr double kUnboundedStep = 1e10;
constexpr double kPrecision = std::numeric_limits<double>::epsilon();

using Vector = std::vector<double>;

double product(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// An approximation of the second derivatives, made of the newest steps and what they changed of
/// the gradient (BFGS).
class Curvature {
 public:
  explicit Curvature(std::size_t size) : size_(size) { forget(); }

  bool is_plain() const { return pairs_.empty(); }
  double at(std::size_t row, std::size_t column) const { return matrix_[row * size_ + column]; }
  Vector times(const Vector& v) const {
    Vector result(size_, 0);
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) result[i] += at(i, j) * v[j];
    }
    return result;
  }

  /// Back to the identity.
  void forget() {
    pairs_.clear();
    rebuild(1);
  }
  /// `product`: of the two, positive.
  void remember(Vector step, Vector change, double product_of_both) {
    if (pairs_.size() == kCorrections) pairs_.pop_front();
    const double scale = product(change, change) / product_of_both;
    pairs_.push_back({std::move(step), std::move(change), product_of_both});
    rebuild(scale);
  }

 private:
  struct Pair {
    Vector step;
    Vector change;
    double product = 0;
  };

  void rebuild(double scale) {
    matrix_.assign(size_ * size_, 0);
    for (std::size_t i = 0; i < size_; ++i) matrix_[i * size_ + i] = scale;
    for (const Pair& pair : pairs_) {
      const Vector image = times(pair.step);
      const double length = product(pair.step, image);
      for (std::size_t i = 0; i < size_; ++i) {
        for (std::size_t j = 0; j < size_; ++j) {
          matrix_[i * size_ + j] +=
              pair.change[i] * pair.change[j] / pair.product - image[i] * image[j] / length;
        }
      }
    }
  }

  std::size_t size_;
  std::deque<Pair> pairs_;
  Vector matrix_;
};

/// Solves a symmetric positive system of few unknowns by Cholesky's method; nothing when it is not
/// positive. `matrix` by rows.
std::optional<Vector> solve_positive(Vector matrix, Vector right) {
  const std::size_t n = right.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double& entry = matrix[i * n + j];
      for (std::size_t k = 0; k < j; ++k) entry -= matrix[i * n + k] * matrix[j * n + k];
      if (i == j && !(entry > 0)) return std::nullopt;
      entry = i == j ? std::sqrt(entry) : entry / matrix[j * n + j];
    }
    for (std::size_t k = 0; k < j; ++k) right[j] -= matrix[j * n + k] * right[k];
    right[j] /= matrix[j * n + j];
  }
  for (std::size_t j = n; j-- > 0;) {
    for (std::size_t k = j + 1; k < n; ++k) right[j] -= matrix[k * n + j] * right[k];
    right[j] /= matrix[j * n + j];
  }
  return right;
}

/// The run of the method from one start.
class Minimisation {
 public:
  Minimisation(const Objective& objective, std::span<const BoundedVariable> variables,
               const MinimumLimits& limits)
      : objective_(objective),
        variables_(variables),
        limits_(limits),
        curvature_(variables.size()),
        gradient_(variables.size()) {
    for (const BoundedVariable& variable : variables) {
      at_.push_back(std::clamp(variable.start, variable.low, variable.high));
    }
  }

  Vector run() && {
    evaluate(at_);
    bool first = true;
    while (slope_left() > limits_.gradient) {
      const auto target = minimise_model();
      if (!target) {
        curvature_.forget();
        continue;
      }
      const double before = value_;
      const Step step = search(*target, first);
      if (step == Step::failed) {
        // With the memory gone the next direction is that of the gradient; if that was it, stop.
        if (curvature_.is_plain()) break;
        curvature_.forget();
        continue;
      }
      first = false;
      const double size = std::max({std::abs(before), std::abs(value_), 1.0});
      if (slope_left() <= limits_.gradient || step == Step::out_of_evaluations ||
          before - value_ <= kPrecision * limits_.value_change * size) {
        break;
      }
      learn_curvature();
    }
    return std::move(at_);
  }

 private:
  enum class Step : std::uint8_t { taken, failed, out_of_evaluations };

  std::size_t size() const { return variables_.size(); }
  bool is_fixed(std::size_t i) const { return variables_[i].low >= variables_[i].high; }
  bool evaluate(const Vector& at) {
    if (evaluations_ == limits_.evaluations) return false;
    ++evaluations_;
    value_ = objective_(at, gradient_);
    return true;
  }

  /// The greatest component of the way to the bounds, or down the gradient where that is shorter.
  double slope_left() const {
    double greatest = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const double slope = gradient_[i] < 0 ? std::max(at_[i] - variables_[i].high, gradient_[i])
                                            : std::min(at_[i] - variables_[i].low, gradient_[i]);
      greatest = std::max(greatest, std::abs(slope));
    }
    return greatest;
  }

  std::optional<Vector> minimise_model();
  void cauchy_point(Vector& point, std::vector<bool>& free) const;
  Vector within_bounds(const Vector& point, const Vector& way, const std::vector<bool>& free) const;
  double largest_step(const Vector& way) const;
  Step search(const Vector& target, bool first);
  void learn_curvature();

  const Objective& objective_;
  std::span<const BoundedVariable> variables_;
  MinimumLimits limits_;
  Curvature curvature_;
  Vector at_;
  Vector gradient_;
  double value_ = 0;
  std::uint32_t evaluations_ = 0;
  // Of the latest step.
  Vector way_;
  Vector gradient_before_;
  double step_ = 0;
  double slope_before_ = 0;
  double slope_after_ = 0;
};

/// The first minimum of the quadratic model on the path down the gradient that bends where
/// variables reach their bounds. `free`: which did not.
void Minimisation::cauchy_point(Vector& point, std::vector<bool>& free) const {
  const std::size_t n = size();
  Vector way(n, 0);
  Vector breaks(n, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < n; ++i) {
    const double down = -gradient_[i];
    const bool at_low = at_[i] <= variables_[i].low && down <= 0;
    const bool at_high = at_[i] >= variables_[i].high && down >= 0;
    free[i] = !is_fixed(i) && !at_low && !at_high;
    if (!free[i] || down == 0) continue;
    way[i] = down;
    breaks[i] = ((down < 0 ? variables_[i].low : variables_[i].high) - at_[i]) / down;
    if (std::isfinite(breaks[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return breaks[a] < breaks[b]; });
  double slope = -product(way, way);
  if (slope == 0) return;
  double bend = product(way, curvature_.times(way));
  const double least_bend = kPrecision * bend;
  double least = -slope / bend;
  double passed = 0;
  std::size_t left = static_cast<std::size_t>(
      std::count_if(way.begin(), way.end(), [](double w) { return w != 0; }));
  const auto advance = [&](double to) {
    for (std::size_t i = 0; i < n; ++i) {
      if (way[i] != 0) point[i] = at_[i] + to * way[i];
    }
  };
  for (const std::size_t i : order) {
    if (least < breaks[i] - passed) break;
    passed = breaks[i];
    advance(passed);
    point[i] = way[i] < 0 ? variables_[i].low : variables_[i].high;
    way[i] = 0;
    free[i] = false;
    if (--left == 0) return;
    Vector moved(n);
    for (std::size_t j = 0; j < n; ++j) moved[j] = point[j] - at_[j];
    slope = product(gradient_, way) + product(way, curvature_.times(moved));
    bend = std::max(least_bend, product(way, curvature_.times(way)));
    least = -slope / bend;
  }
  advance(passed + std::max(least, 0.0));
}

/// A point that is lower by the model: its minimum over what the Cauchy point leaves free, brought
/// back within the bounds. Nothing when the model has no minimum.
std::optional<Vector> Minimisation::minimise_model() {
  Vector point = at_;
  std::vector<bool> free(size(), false);
  cauchy_point(point, free);
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < size(); ++i) {
    if (free[i]) indices.push_back(i);
  }
  if (indices.empty() || curvature_.is_plain()) return point;
  Vector moved(size());
  for (std::size_t i = 0; i < size(); ++i) moved[i] = point[i] - at_[i];
  const Vector image = curvature_.times(moved);
  Vector matrix;
  Vector right;
  for (const std::size_t i : indices) {
    right.push_back(-image[i] - gradient_[i]);
    for (const std::size_t j : indices) matrix.push_back(curvature_.at(i, j));
  }
  const auto solution = solve_positive(std::move(matrix), std::move(right));
  if (!solution) return std::nullopt;
  Vector way(size(), 0);
  for (std::size_t k = 0; k < indices.size(); ++k) way[indices[k]] = (*solution)[k];
  return within_bounds(point, way, free);
}

/// `point` moved by `way`: each variable to its bound at most, where that leads down, else as far
/// along `way` as all bounds allow.
Vector Minimisation::within_bounds(const Vector& point, const Vector& way,
                                   const std::vector<bool>& free) const {
  Vector clamped = point;
  double slope = 0;
  bool touches = false;
  for (std::size_t i = 0; i < size(); ++i) {
    const BoundedVariable& variable = variables_[i];
    if (free[i]) clamped[i] = std::clamp(point[i] + way[i], variable.low, variable.high);
    touches |= free[i] && (clamped[i] == variable.low || clamped[i] == variable.high);
    slope += (clamped[i] - at_[i]) * gradient_[i];
  }
  if (!touches || slope <= 0) return clamped;
  double share = 1;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!free[i] || way[i] == 0) continue;
    const double bound = way[i] < 0 ? variables_[i].low : variables_[i].high;
    const double reached = (bound - point[i]) / way[i];
    if (reached >= share) continue;
    share = std::max(reached, 0.0);
    first = i;
  }
  Vector shortened = point;
  for (std::size_t i = 0; i < size(); ++i) shortened[i] += share * way[i];
  if (first) shortened[*first] = way[*first] < 0 ? variables_[*first].low : variables_[*first].high;
  return shortened;
}

double Minimisation::largest_step(const Vector& way) const {
  double largest = kUnboundedStep;
  for (std::size_t i = 0; i < size(); ++i) {
    if (way[i] == 0) continue;
    const double left = (way[i] < 0 ? variables_[i].low : variables_[i].high) - at_[i];
    largest = std::min(largest, std::max(left / way[i], 0.0));
  }
  return largest;
}

/// Goes from where it is towards `target`, as far as brings enough; stays when nothing does.
Minimisation::Step Minimisation::search(const Vector& target, bool first) {
  const Vector begin = at_;
  const double value_before = value_;
  gradient_before_ = gradient_;
  way_.assign(size(), 0);
  for (std::size_t i = 0; i < size(); ++i) way_[i] = target[i] - begin[i];
  slope_before_ = product(gradient_, way_);
  const auto stay = [&] {
    at_ = begin;
    value_ = value_before;
    gradient_ = gradient_before_;
    return Step::failed;
  };
  if (!(slope_before_ < 0)) return stay();
  const bool boxed = std::all_of(variables_.begin(), variables_.end(), [](const auto& variable) {
    return std::isfinite(variable.low) && std::isfinite(variable.high);
  });
  // Nothing is known of the scale of the first step.
  const double largest = first ? 1.0 : largest_step(way_);
  const double begin_with =
      first && !boxed ? std::min(1 / std::sqrt(product(way_, way_)), largest) : 1.0;
  LineSearch line(value_before, slope_before_, std::min(begin_with, largest), largest);
  for (std::uint32_t steps = 0;; ++steps) {
    if (steps == kMostLineSteps) return stay();
    step_ = line.step();
    for (std::size_t i = 0; i < size(); ++i) {
      at_[i] = step_ == 1 ? target[i] : begin[i] + step_ * way_[i];
    }
    if (!evaluate(at_)) return stay(), Step::out_of_evaluations;
    slope_after_ = product(gradient_, way_);
    if (!line.add(value_, slope_after_)) return Step::taken;
  }
}

void Minimisation::learn_curvature() {
  Vector step(size());
  Vector change(size());
  for (std::size_t i = 0; i < size(); ++i) {
    step[i] = step_ * way_[i];
    change[i] = gradient_[i] - gradient_before_[i];
  }
  const double both = (slope_after_ - slope_before_) * step_;
  // Of a step along which the slope hardly rose nothing can be learnt.
  if (both <= kPrecision * -slope_before_ * step_) return;
  curvature_.remember(std::move(step), std::move(change), both);
}

}  // namespace

std::vector<double> bounded_minimum(const Objective& objective,
                                    std::span<const BoundedVariable> variables,
                                    const MinimumLimits& limits) {
  MUSTER_CHECK(!variables.empty(), "a minimum of nothing");
  for (const BoundedVariable& variable : variables) {
    MUSTER_CHECK(variable.low <= variable.high, "bounds that leave no value");
  }
  return Minimisation(objective, variables, limits).run();
}

}  // namespace muster
