#pragma once

#include "replay/workload/formats.hpp"

namespace muster::replay {

/// What openb-csv alone has to be told.
struct OpenbSettings {
  bool gpu_shares = false;  ///< a pod has the share of a GPU that it asks for
};

}  // namespace muster::replay
