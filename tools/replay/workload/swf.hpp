#pragma once

#include <cstdint>

#include "tools/replay/workload/formats.hpp"

namespace muster::replay {

/// What swf alone has to be told.
struct SwfSettings {
  std::uint32_t processors_per_task = 1;
};

}  // namespace muster::replay
