#pragma once

#include "model/views.hpp"
#include "storage/stores/cloud_store.hpp"

// A cloud's records, as those see them who ask it.

namespace muster {

/// How far the instance has come.
RentState state_of(const RentedRecord& record);

/// The instance as the cloud's answers show it.
RentedInstance view_of(const RentedRecord& record, Instant now);

}  // namespace muster
