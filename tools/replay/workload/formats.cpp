#include "tools/replay/workload/formats.hpp"

#include <utility>

// The list of workload formats, from formats.def: MUSTER_TRACE names those that are read from a
// file alone and may be parts of composed workloads, MUSTER_MADE those that are made from others or
// drawn.

namespace muster::replay {

WorkloadFormat trace(std::string name, RawJobsResult (*read)(const WorkloadConfig&)) {
  return {{.name = std::move(name), .needs = {"workload.path"}},
          [read](const WorkloadConfig& config, std::uint64_t /*seed*/) { return read(config); }};
}

const std::vector<WorkloadFormat>& trace_formats() {
#define MUSTER_TRACE(NAME) NAME##_format(),
#define MUSTER_MADE(NAME)
  static const std::vector<WorkloadFormat> kTraces = {
#include "tools/replay/workload/formats.def"
  };
#undef MUSTER_MADE
#undef MUSTER_TRACE
  return kTraces;
}

const std::vector<WorkloadFormat>& workload_formats() {
#define MUSTER_TRACE(NAME) NAME##_format(),
#define MUSTER_MADE(NAME) MUSTER_TRACE(NAME)
  static const std::vector<WorkloadFormat> kFormats = {
#include "tools/replay/workload/formats.def"
  };
#undef MUSTER_MADE
#undef MUSTER_TRACE
  return kFormats;
}

std::vector<std::string> names_of(const std::vector<WorkloadFormat>& formats) {
  std::vector<std::string> names;
  for (const WorkloadFormat& format : formats) names.push_back(format.part.name);
  return names;
}

}  // namespace muster::replay
