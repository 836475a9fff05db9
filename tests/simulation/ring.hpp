#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/simulation/scenario.hpp"

namespace muster::ring {

struct RingOptions {
  ScenarioLimits limits;
  std::size_t faults = SIZE_MAX;    ///< only so many of the scenario's, the first ones
  std::uint64_t check_every = 100;  ///< messages from one look at the invariants to the next
  bool trace = false;               ///< prints faults and events as they come
};

/// What came of one seed.
struct RingResult {
  std::uint64_t seed = 0;
  std::string policy;
  std::size_t faults = 0;
  std::uint64_t messages = 0;
  std::uint64_t events = 0;
  double drained_s = 0;  ///< virtual seconds from the last fault to the end
  std::vector<std::string> violations;
};

RingResult run_seed(std::uint64_t seed, const RingOptions& options);

}  // namespace muster::ring
