#include "learning/line_search.hpp"

#include <algorithm>
#include <cmath>

#include "model/check.hpp"

namespace muster {
namespace {

constexpr double kDecrease = 1e-3;  ///< of the value, as a share of what the first slope promises
constexpr double kFlatter = 0.9;    ///< of the slope
constexpr double kNarrow = 0.1;     ///< an interval that is relatively narrower ends the search
constexpr double kLeastGrowth = 1.1;
constexpr double kMostGrowth = 4;
constexpr double kShrinks = 0.66;  ///< of an interval, in two steps

/// Of the cubic through two points with their slopes: how far its minimum lies from the first one,
/// as a share of the way to the second; `back` is the sign of its root.
struct Cubic {
  Cubic(const LinePoint& from, const LinePoint& to) {
    theta = 3 * (from.value - to.value) / (to.step - from.step) + from.slope + to.slope;
    const double scale = std::max({std::abs(theta), std::abs(from.slope), std::abs(to.slope)});
    const double root =
        (theta / scale) * (theta / scale) - (from.slope / scale) * (to.slope / scale);
    gamma = scale * std::sqrt(std::max(root, 0.0));
  }

  double theta = 0;
  double gamma = 0;
};

/// The value rose: the minimum is between the two.
double step_after_rise(const LinePoint& best, const LinePoint& at) {
  const double way = at.step - best.step;
  Cubic cubic(best, at);
  if (way < 0) cubic.gamma = -cubic.gamma;
  const double share = (cubic.gamma - best.slope + cubic.theta) /
                       (cubic.gamma - best.slope + cubic.gamma + at.slope);
  const double by_cubic = best.step + share * way;
  const double secant = (best.value - at.value) / way + best.slope;
  const double by_quadratic = best.step + best.slope / secant / 2 * way;
  if (std::abs(by_cubic - best.step) < std::abs(by_quadratic - best.step)) return by_cubic;
  return by_cubic + (by_quadratic - by_cubic) / 2;
}

/// The slope changed its sign.
double step_after_turn(const LinePoint& best, const LinePoint& at) {
  const double way = best.step - at.step;
  Cubic cubic(best, at);
  if (way < 0) cubic.gamma = -cubic.gamma;
  const double share =
      (cubic.gamma - at.slope + cubic.theta) / (cubic.gamma - at.slope + cubic.gamma + best.slope);
  const double by_cubic = at.step + share * way;
  const double by_secant = at.step + at.slope / (at.slope - best.slope) * way;
  return std::abs(by_cubic - at.step) > std::abs(by_secant - at.step) ? by_cubic : by_secant;
}

}  // namespace

LineSearch::LineSearch(double value, double slope, double first, double largest)
    : largest_(largest),
      start_{0, value, slope},
      best_(start_),
      other_(start_),
      step_(first),
      width_(largest),
      width_before_(2 * largest),
      high_(first + kMostGrowth * first) {
  MUSTER_CHECK(slope < 0, "a line along which nothing falls");
}

bool LineSearch::add(double value, double slope) {
  const LinePoint at{step_, value, slope};
  const double test_slope = kDecrease * start_.slope;
  const double enough = start_.value + step_ * test_slope;
  if (first_stage_ && value <= enough && slope >= 0) first_stage_ = false;
  if (is_over(at)) return false;
  // Until a step brings enough, one looks for the least value of the function less what it has to
  // fall by.
  const bool modified = first_stage_ && value <= best_.value && value > enough;
  step_ = next_step(at, modified ? test_slope : 0);
  shrink();
  return true;
}

bool LineSearch::is_over(const LinePoint& at) const {
  const double test_slope = kDecrease * start_.slope;
  const double enough = start_.value + at.step * test_slope;
  const bool stuck = bracketed_ && (at.step <= low_ || at.step >= high_);
  const bool narrow = bracketed_ && high_ - low_ <= kNarrow * high_;
  const bool at_end = at.step == largest_ && at.value <= enough && at.slope <= test_slope;
  const bool at_begin = at.step == 0 && (at.value > enough || at.slope >= test_slope);
  const bool found = at.value <= enough && std::abs(at.slope) <= kFlatter * -start_.slope;
  return stuck || narrow || at_end || at_begin || found;
}

double LineSearch::next_step(LinePoint at, double test_slope) {
  const auto tilt = [&](LinePoint& point, double by) {
    point.value += point.step * by;
    point.slope += by;
  };
  for (LinePoint* point : {&at, &best_, &other_}) tilt(*point, -test_slope);
  const bool turned = at.slope * (best_.slope / std::abs(best_.slope)) < 0;
  double next = 0;
  if (at.value > best_.value) {
    next = step_after_rise(best_, at);
    bracketed_ = true;
  } else if (turned) {
    next = step_after_turn(best_, at);
    bracketed_ = true;
  } else if (std::abs(at.slope) < std::abs(best_.slope)) {
    // The cubic may go on without end in the direction of the step.
    Cubic cubic(best_, at);
    if (at.step > best_.step) cubic.gamma = -cubic.gamma;
    const double share = (cubic.gamma - at.slope + cubic.theta) /
                         (cubic.gamma + (best_.slope - at.slope) + cubic.gamma);
    const double end = at.step > best_.step ? high_ : low_;
    const double by_cubic =
        share < 0 && cubic.gamma != 0 ? at.step + share * (best_.step - at.step) : end;
    const double by_secant = at.step + at.slope / (at.slope - best_.slope) * (best_.step - at.step);
    const bool cubic_is_nearer = std::abs(by_cubic - at.step) < std::abs(by_secant - at.step);
    if (bracketed_) {
      next = cubic_is_nearer ? by_cubic : by_secant;
      const double most = at.step + kShrinks * (other_.step - at.step);
      next = at.step > best_.step ? std::min(most, next) : std::max(most, next);
    } else {
      next = std::abs(by_cubic - at.step) > std::abs(by_secant - at.step) ? by_cubic : by_secant;
      next = std::max(std::min(high_, next), low_);
    }
  } else if (bracketed_) {
    const LinePoint& end = other_;
    Cubic cubic(at, end);
    if (at.step > end.step) cubic.gamma = -cubic.gamma;
    const double share =
        (cubic.gamma - at.slope + cubic.theta) / (cubic.gamma - at.slope + cubic.gamma + end.slope);
    next = at.step + share * (end.step - at.step);
  } else {
    next = at.step > best_.step ? high_ : low_;
  }
  if (at.value > best_.value) {
    other_ = at;
  } else {
    if (turned) other_ = best_;
    best_ = at;
  }
  for (LinePoint* point : {&best_, &other_}) tilt(*point, test_slope);
  return next;
}

void LineSearch::shrink() {
  if (bracketed_) {
    const double width = std::abs(other_.step - best_.step);
    if (width >= kShrinks * width_before_) step_ = best_.step + (other_.step - best_.step) / 2;
    width_before_ = width_;
    width_ = width;
    low_ = std::min(best_.step, other_.step);
    high_ = std::max(best_.step, other_.step);
  } else {
    low_ = step_ + kLeastGrowth * (step_ - best_.step);
    high_ = step_ + kMostGrowth * (step_ - best_.step);
  }
  step_ = std::clamp(step_, 0.0, largest_);
  const bool stuck = step_ <= low_ || step_ >= high_ || high_ - low_ <= kNarrow * high_;
  if (bracketed_ && stuck) step_ = best_.step;
}

}  // namespace muster
