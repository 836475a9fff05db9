#pragma once

#include "model/job.hpp"

namespace muster::testing {

/// An hour of one GPU in two epochs: in the first more workers are of no use, in the second four
/// are nearly four times as fast.
inline ElasticEpochs two_epochs() {
  return ElasticEpochs(
      {{100, 100.0 / 1800, {1, 1, 1, 1}, {}}, {200, 100.0 / 1800, {1, 1.9, 2.8, 3.6}, {}}});
}

}  // namespace muster::testing
