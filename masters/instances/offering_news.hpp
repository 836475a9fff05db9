#pragma once

#include <cstdint>
#include <span>

#include "masters/master_recorder.hpp"

namespace muster {

/// Between the newest change that is known of offerings and these there is one that is not among
/// them.
bool misses_change(std::uint64_t known, std::span<const OfferingChange> changes);
/// Records the changes that are news. True: some price changed, or something can be had again.
bool record_offerings(MasterRecorder& recorder, std::span<const OfferingChange> changes,
                      Instant now);

}  // namespace muster
