#pragma once

#include <cstdint>

#include "schedulers/packing/event_policy.hpp"
#include "schedulers/packing/expected_run.hpp"
#include "schedulers/stratus/bin_packer.hpp"

namespace muster::stratus {

/// Instance clearing (3.4).
struct ClearingRules {
  bool on = true;
  std::uint32_t after = 3;  ///< more scheduling events one after the other than these
  double below = 0.5;       ///< share of each kind of resource that is less than used
  /// Over which the memory of a task that moves is sent, Mbit/s; 0: a move takes as long as the
  /// delays of the task say.
  double bandwidth_mbit_s = 160;
};

/// Parameters of the policy.
struct StratusParams {
  bool artifact = false;  ///< decide as Eva's published simulator does
  EventRules events;
  PackerRules packer;
  RunTimeRules run_times;
  std::uint32_t group = 0;  ///< tasks that are bought an instance together at most; 0: no bound
  ClearingRules clearing;
};

}  // namespace muster::stratus
