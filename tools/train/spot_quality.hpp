#pragma once

#include <cstddef>

#include "learning/prediction_errors.hpp"

namespace muster::train {

/// Jobs that SORS would have let on spot instances, and their outcome.
struct SpotQuality {
  std::size_t short_jobs = 0;  ///< that it was asked about
  std::size_t allowed = 0;     ///< of those: may use spot instances
  std::size_t kept = 0;        ///< of those allowed: ran no longer than promised (delta >= 0)
  std::size_t within = 0;      ///< of those allowed: 0 <= delta < eps

  /// Counts a short job that then ran for that time.
  void add(const SorsVerdict& verdict, double runtime_s, double eps);
};

}  // namespace muster::train
