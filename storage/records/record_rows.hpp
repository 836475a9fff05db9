#pragma once

#include "model/cluster_state.hpp"
#include "storage/records/record_parts.hpp"

// The rows of a master's state as parts of its snapshot.

namespace muster::record_codec {

/// put() leaves out what is derived from other rows and lists; get() gives the rest, with the type
/// of an instance as its number in the record.
void put(record::JobRow::Builder out, const JobRow& in);
JobRow get(record::JobRow::Reader in);
void put(record::TaskRow::Builder out, const TaskRow& in);
TaskRow get(record::TaskRow::Reader in);
void put(record::InstanceRow::Builder out, const InstanceRow& in);
InstanceRow get(record::InstanceRow::Reader in);

}  // namespace muster::record_codec
