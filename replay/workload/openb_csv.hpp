#pragma once

#include "replay/workload/formats.hpp"

namespace muster::replay {

/// Settings of openb-csv.
struct OpenbSettings {
  bool gpu_shares = false;  ///< a pod has the share of a GPU that it asks for
};

}  // namespace muster::replay
