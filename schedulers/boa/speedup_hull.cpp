#include "schedulers/boa/speedup_hull.hpp"

#include <algorithm>

#include "model/check.hpp"

namespace muster::boa {
namespace {

/// Speedup a worker from one vertex to the next.
double slope(const HullVertex& from, const HullVertex& to) {
  return (to.speedup - from.speedup) / (to.width - from.width);
}

}  // namespace

SpeedupHull::SpeedupHull(std::span<const double> speedup) {
  MUSTER_CHECK(!speedup.empty(), "a speedup function has a value at width 1");
  // Past the first maximum more workers bring nothing.
  const auto most = std::max_element(speedup.begin(), speedup.end()) - speedup.begin();
  for (std::uint32_t width = 1; width <= static_cast<std::uint32_t>(most) + 1; ++width) {
    const HullVertex next{width, speedup[width - 1]};
    MUSTER_CHECK(next.speedup > 0, "speedups are above 0");
    while (vertices_.size() >= 2 && slope(vertices_[vertices_.size() - 2], vertices_.back()) <=
                                        slope(vertices_.back(), next)) {
      vertices_.pop_back();
    }
    vertices_.push_back(next);
  }
}

double SpeedupHull::at(double width) const {
  const auto above =
      std::find_if(vertices_.begin(), vertices_.end(),
                   [width](const HullVertex& vertex) { return vertex.width >= width; });
  if (above == vertices_.end()) return vertices_.back().speedup;
  if (above == vertices_.begin()) return above->speedup;
  const HullVertex& below = *(above - 1);
  return below.speedup + slope(below, *above) * (width - below.width);
}

}  // namespace muster::boa
