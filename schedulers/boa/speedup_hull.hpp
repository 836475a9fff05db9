#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace muster::boa {

/// A width at which a hull touches its speedups.
struct HullVertex {
  std::uint32_t width = 1;
  double speedup = 1;

  friend bool operator==(const HullVertex&, const HullVertex&) = default;
};

/// The least monotone concave function from width 1 on that is nowhere below given speedups, which
/// may be neither (the paper's 3.1): straight between its vertices, constant after the last one.
class SpeedupHull {
 public:
  /// `speedup` is of widths 1, 2, ...; there is at least one, and all are above 0.
  explicit SpeedupHull(std::span<const double> speedup);

  /// By rising width and speedup; the first is at width 1.
  std::span<const HullVertex> vertices() const { return vertices_; }
  /// At a width of 1 or more, which may lie between whole ones.
  double at(double width) const;

 private:
  std::vector<HullVertex> vertices_;
};

}  // namespace muster::boa
