#include "learning/services/curve_distances.hpp"

#include <algorithm>
#include <numeric>

namespace muster {

CurveDistances::CurveDistances(std::span<const double> values, std::uint32_t points)
    : count_(static_cast<std::uint32_t>(values.size() / points)),
      squares_(std::size_t{count_} * count_),
      left_(count_),
      nearest_(count_) {
  std::iota(left_.begin(), left_.end(), 0U);
  for (std::uint32_t a = 0; a < count_; ++a) {
    for (std::uint32_t b = 0; b < a; ++b) {
      double square = 0;
      for (std::uint32_t p = 0; p < points; ++p) {
        const double off =
            values[std::size_t{a} * points + p] - values[std::size_t{b} * points + p];
        square += off * off;
      }
      squares_[std::size_t{a} * count_ + b] = squares_[std::size_t{b} * count_ + a] = square;
    }
  }
}

void CurveDistances::find_nearest(std::uint32_t curve) {
  nearest_[curve] = curve;
  for (const std::uint32_t other : left_) {
    if (other == curve) continue;
    if (nearest_[curve] == curve || between(curve, other) < between(curve, nearest_[curve])) {
      nearest_[curve] = other;
    }
  }
}

void CurveDistances::thin(std::uint32_t most) {
  if (left_.size() <= most) return;
  for (const std::uint32_t curve : left_) find_nearest(curve);
  while (left_.size() > most) {
    std::uint32_t out = left_.front();
    for (const std::uint32_t curve : left_) {
      if (between(curve, nearest_[curve]) < between(out, nearest_[out])) out = curve;
    }
    std::erase(left_, out);
    for (const std::uint32_t curve : left_) {
      if (nearest_[curve] == out) find_nearest(curve);
    }
  }
}

std::vector<std::uint32_t> CurveDistances::nearest(std::uint32_t curve, std::uint32_t count) const {
  std::vector<std::uint32_t> others;
  for (const std::uint32_t other : left_) {
    if (other != curve) others.push_back(other);
  }
  const std::size_t taken = std::min<std::size_t>(count, others.size());
  std::partial_sort(
      others.begin(), others.begin() + static_cast<std::ptrdiff_t>(taken), others.end(),
      [&](std::uint32_t a, std::uint32_t b) { return between(curve, a) < between(curve, b); });
  others.resize(taken);
  return others;
}

}  // namespace muster
