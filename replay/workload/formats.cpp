#include "replay/workload/formats.hpp"

#include <algorithm>
#include <utility>

// The list of workload formats, from formats.def: MUSTER_TRACE names those that are read from a
// file alone and may be parts of composed workloads, MUSTER_MADE those that are made from others or
// drawn.

namespace muster::replay {

namespace {

/// Keeps all jobs.
class JobCollector final : public JobTaker {
 public:
  void take(std::uint64_t /*number*/, std::uint64_t /*order*/, JobDraft draft) override {
    raw_jobs_.add(std::move(draft));
  }

  RawJobs finish(TraceFacts facts) {
    if (!facts.dropped.empty()) {
      std::size_t number = 0;
      std::erase_if(raw_jobs_.jobs, [&](const JobRow&) { return facts.dropped[number++]; });
    }
    if (facts.by_id) std::ranges::stable_sort(raw_jobs_.jobs, {}, &JobRow::id);
    for (JobRow& job : raw_jobs_.jobs) job.submit -= facts.begin;
    raw_jobs_.description = std::move(facts.description);
    raw_jobs_.left_out = std::move(facts.left_out);
    return std::move(raw_jobs_);
  }

 private:
  RawJobs raw_jobs_;
};

}  // namespace

RawJobsResult collect_jobs(const WorkloadConfig& config, const TraceStream& stream) {
  JobCollector jobs;
  TraceReading reading(config, jobs);
  auto facts = stream(reading);
  if (!facts) return facts.error();
  return jobs.finish(std::move(facts).value());
}

WorkloadFormat trace(std::string name, TraceResult (*stream)(TraceReading&)) {
  const auto read = [stream](const WorkloadConfig& config, std::uint64_t /*seed*/) {
    return collect_jobs(config, stream);
  };
  return {{.name = std::move(name), .needs = {"workload.path"}}, read, stream};
}

const std::vector<WorkloadFormat>& trace_formats() {
#define MUSTER_TRACE(NAME) NAME##_format(),
#define MUSTER_MADE(NAME)
  static const std::vector<WorkloadFormat> kTraces = {
#include "replay/workload/formats.def"
  };
#undef MUSTER_MADE
#undef MUSTER_TRACE
  return kTraces;
}

const std::vector<WorkloadFormat>& workload_formats() {
#define MUSTER_TRACE(NAME) NAME##_format(),
#define MUSTER_MADE(NAME) MUSTER_TRACE(NAME)
  static const std::vector<WorkloadFormat> kFormats = {
#include "replay/workload/formats.def"
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
