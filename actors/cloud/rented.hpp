#pragma once

#include "model/views.hpp"
#include "storage/cloud_book.hpp"

// What a cloud's records say.

namespace muster {

/// How far the instance has come.
RentState state_of(const RentedRecord& record);

/// What a cloud answers of an instance.
RentedInstance view_of(const RentedRecord& record, Instant now);

}  // namespace muster
