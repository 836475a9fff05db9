#pragma once

#include <iosfwd>
#include <string>

#include "replay/workload/record_sorter.hpp"
#include "replay/workload/trace_reading.hpp"

namespace muster::replay {

/// Turns the jobs of a trace into rows of Muster's own CSV, as write_workload_csv() would write
/// them, in a bound of memory however many they are.
class RowSpool final : public JobTaker {
 public:
  void take(std::uint64_t number, std::uint64_t order, JobDraft draft) override;

  /// Writes the rows in the order of submission, at most `max_jobs` (0: all). False when a
  /// temporary file failed; failure() says why.
  bool write(const TraceFacts& facts, std::uint64_t max_jobs, std::ostream& out);
  const std::string& failure() const { return rows_.failure(); }

 private:
  RecordSorter rows_;
};

/// Goes through a trace of the format and hands its jobs to `taker`. config.path may be "-".
TraceResult stream_trace(const std::string& format, const WorkloadConfig& config, JobTaker& taker);

}  // namespace muster::replay
