#pragma once

#include <cstdint>

#include "replay/workload/formats.hpp"

namespace muster::replay {

/// Settings of google-2011.
struct GoogleSettings {
  double machine_cpu = 64;          ///< cores of the machine in parts of which requests are counted
  std::uint32_t max_priority = 11;  ///< only tasks of at most this one
};

}  // namespace muster::replay
