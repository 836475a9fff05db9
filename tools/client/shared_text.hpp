#pragma once

#include <string>
#include <vector>

#include "model/views.hpp"

namespace muster::client {

/// Dollars of which some are parts of others, as text.
struct SharedText {
  std::vector<std::string> parts;  ///< in the order in which they were given
  std::string total;
};

/// "$0.000123": all with enough digits that no part reads as free, each rounded up or down so that
/// the parts add up to the total to the last digit that is shown. Parts that are not all of the
/// total are rounded each for itself.
SharedText shared_text(const std::vector<CostPart>& parts, double total_usd);

}  // namespace muster::client
