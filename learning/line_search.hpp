#pragma once

namespace muster {

/// A step along a line, with the function's value and slope there.
struct LinePoint {
  double step = 0;
  double value = 0;
  double slope = 0;
};

/// Looks along a line for a step after which a function is lower by enough and less steep (More and
/// Thuente, ACM TOMS 20, 1994, as in MINPACK-2). The caller evaluates the function at step() and
/// tells it to add(), until that returns false.
class LineSearch {
 public:
  /// From step 0, where the slope is negative; `first` and all further steps are at most `largest`.
  LineSearch(double value, double slope, double first, double largest);

  /// The step to evaluate, or, once the search is over, the one that it chose.
  double step() const { return step_; }
  /// False: the search is over, at this step.
  bool add(double value, double slope);

 private:
  bool is_over(const LinePoint& at) const;
  double next_step(LinePoint at, double test_slope);
  void shrink();

  double largest_;
  LinePoint start_;
  LinePoint best_;   ///< one end of the interval: the least value so far
  LinePoint other_;  ///< its other end
  double step_;
  bool bracketed_ = false;  ///< the interval holds a minimum
  bool first_stage_ = true;
  double width_;
  double width_before_;
  double low_ = 0;  ///< bounds of the next step
  double high_;
};

}  // namespace muster
