#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/replay_parts.hpp"
#include "replay/workload/readers.hpp"
#include "replay/workload/trace_reading.hpp"

namespace muster::replay {

/// Goes through a trace and hands on its jobs one by one.
using TraceStream = std::function<TraceResult(TraceReading&)>;

/// A way to write workloads down, or to make them up: all that the rest of a replay knows of it.
/// Each describes itself beside its reader.
struct WorkloadFormat {
  ReplayPart part;  ///< its name and the keys that it alone reads
  std::function<RawJobsResult(const WorkloadConfig&, std::uint64_t seed)> read;
  TraceStream stream = {};  ///< of a trace
};

/// All jobs of a trace.
RawJobsResult collect_jobs(const WorkloadConfig& config, const TraceStream& stream);

/// A format that is read from workload.path, without chance.
WorkloadFormat trace(std::string name, TraceResult (*stream)(TraceReading&));

// The function that describes each format; replay/workload/formats.def is the list.
#define MUSTER_TRACE(NAME) WorkloadFormat NAME##_format();
#define MUSTER_MADE(NAME) MUSTER_TRACE(NAME)
#include "replay/workload/formats.def"
#undef MUSTER_MADE
#undef MUSTER_TRACE

/// All formats, and those that are read from one file.
const std::vector<WorkloadFormat>& workload_formats();
const std::vector<WorkloadFormat>& trace_formats();

/// Their names, for errors and choices.
std::vector<std::string> names_of(const std::vector<WorkloadFormat>& formats);

}  // namespace muster::replay
