#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace muster {

/// Curves that a set of them can do without: from the squared distances between them.
class CurveDistances {
 public:
  /// Of curves of `points` values, one behind the other.
  CurveDistances(std::span<const double> values, std::uint32_t points);

  /// Takes curves out until at most that many are left: of the two that are nearest to each other
  /// the first.
  void thin(std::uint32_t most);
  /// The curves that are left, in their order.
  const std::vector<std::uint32_t>& left() const { return left_; }
  /// The curves of those left that are nearest to one of them.
  std::vector<std::uint32_t> nearest(std::uint32_t curve, std::uint32_t count) const;

 private:
  double between(std::uint32_t a, std::uint32_t b) const {
    return squares_[std::size_t{a} * count_ + b];
  }
  void find_nearest(std::uint32_t curve);

  std::uint32_t count_;
  std::vector<double> squares_;
  std::vector<std::uint32_t> left_;
  std::vector<std::uint32_t> nearest_;  ///< of each curve, while others are left
};

}  // namespace muster
