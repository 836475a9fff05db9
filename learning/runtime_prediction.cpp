#include "learning/runtime_prediction.hpp"

#include <array>

namespace muster {

std::string_view name_of(Estimator estimator) {
  constexpr std::array<std::string_view, kAllEstimators> kNames = {"median", "mean", "rolling",
                                                                   "recent"};
  return kNames[static_cast<std::size_t>(estimator)];
}

}  // namespace muster
