#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "learning/services/measured.hpp"
#include "learning/services/performance_history.hpp"

namespace muster {

/// The most degrees of collocation that are compared.
inline constexpr std::uint32_t kMostDegrees = 8;

/// Takes the shapes of past services (performance by degree of collocation, relative to that of the
/// first degree) as hypotheses of a new one's, whose level is fitted to what was measured of it.
/// Shapes are of a size; those of all sizes stand in where a size has too few.
class ShapeHistory {
 public:
  /// Of up to kMostDegrees points, and kMostPoints sizes.
  ShapeHistory(std::uint32_t points, std::uint32_t sizes, const HistoryParams& params = {});

  /// Learns whole curves at a size. One whose first value is 0 has no shape and is left out. The
  /// oldest are forgotten where there are too many of the size.
  void add(std::uint32_t size, std::span<const PerformanceCurve> curves);

  /// Mean and deviation of a service at that size. Without a measurement the level is open: the
  /// mean is that of the shapes.
  void estimate(std::uint32_t size, std::span<const MeasuredPoint> measured,
                PerformanceEstimate& out) const;
  /// The point of the greatest deviation; nothing when all are measured.
  std::optional<std::uint32_t> next_probe(std::uint32_t size,
                                          std::span<const MeasuredPoint> measured) const;

  std::uint32_t points() const { return points_; }
  std::uint32_t sizes() const { return static_cast<std::uint32_t>(groups_.size() - 1); }
  std::uint32_t shapes(std::uint32_t size) const;

  void write(ModelWriter& out) const;
  static ShapeHistory read(ModelReader& in);
  friend bool operator==(const ShapeHistory&, const ShapeHistory&) = default;

 private:
  using Shape = std::array<double, kMostDegrees>;
  using Square = std::array<Shape, kMostDegrees>;
  /// Shapes of one size.
  struct Group {
    std::vector<Shape> shapes{};  ///< the oldest first
    Shape mean{};
    Square spread{};  ///< covariance of a new shape around the past one that it is like

    friend bool operator==(const Group&, const Group&) = default;
  };
  class Fit;

  void append(Group& group, const Shape& shape) const;
  void relate(Group& group) const;
  const Group& group_of(std::uint32_t size) const;

  std::uint32_t points_;
  HistoryParams params_;
  std::vector<Group> groups_;  ///< by size, and one of all sizes
};

}  // namespace muster
