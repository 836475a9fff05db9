#pragma once

#include <vector>

#include "model/offering.hpp"
#include "model/time.hpp"

namespace muster {

/// State of an offering from some time of a series on.
struct PricePoint {
  Duration at{};
  Offering offering;
  bool revoke = false;  ///< all spot instances of it are taken back then
};

/// Prices, availability and revocations over time, by rising times.
struct PriceSeries {
  std::vector<PricePoint> steps;
};

/// The series from some time on, which is the time 0 of what is given back. The state of an
/// offering then is its first step.
PriceSeries begun_at(PriceSeries series, Duration from);

}  // namespace muster
