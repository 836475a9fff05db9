#pragma once

#include <span>

#include "masters/master_recorder.hpp"

namespace muster {

/// Between what is known of offerings and the changes there is one that is not among them.
bool misses_change(const ClusterState& state, std::span<const OfferingChange> changes);
/// Records the changes that are news. True: some price changed, or something can be had again.
bool record_offerings(MasterRecorder& recorder, std::span<const OfferingChange> changes,
                      Instant now);

}  // namespace muster
