#pragma once

#include <vector>

#include "model/offering.hpp"
#include "model/time.hpp"

namespace muster {

/// What an offering is from some time of a series on.
struct PricePoint {
  Duration at{};
  Offering offering;
  bool revoke = false;  ///< all spot instances of it are taken back then
};

/// Prices, availability and revocations over time, by rising times.
struct PriceSeries {
  std::vector<PricePoint> steps;
};

}  // namespace muster
