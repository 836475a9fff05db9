#pragma once

#include <cmath>
#include <numbers>

namespace muster {

/// A place on the earth.
struct GeoPoint {
  double latitude_deg = 0;   ///< -90 .. 90
  double longitude_deg = 0;  ///< -180 .. 180

  friend bool operator==(const GeoPoint&, const GeoPoint&) = default;
};

/// Along the surface of a ball of the earth's mean radius (haversine formula).
inline double distance_km(const GeoPoint& a, const GeoPoint& b) {
  constexpr double kRadius = 6371.0;
  constexpr double kRadian = std::numbers::pi / 180;
  const double up = std::sin((b.latitude_deg - a.latitude_deg) * kRadian / 2);
  const double across = std::sin((b.longitude_deg - a.longitude_deg) * kRadian / 2);
  const double h = up * up + std::cos(a.latitude_deg * kRadian) *
                                 std::cos(b.latitude_deg * kRadian) * across * across;
  return 2 * kRadius * std::asin(std::fmin(1.0, std::sqrt(h)));
}

}  // namespace muster
