#pragma once

#include <cstdint>

#include "replay/workload/formats.hpp"

namespace muster::replay {

/// Settings of swf.
struct SwfSettings {
  std::uint32_t processors_per_task = 1;
  bool gangs = true;          ///< the tasks of a job run together
  bool needs_memory = false;  ///< jobs that say nothing of their memory are left out
};

}  // namespace muster::replay
