#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/history.hpp"
#include "model/index_ranges.hpp"

namespace muster {

/// Array indices from the first to the last, with equal steps between them. Parts of a job that was
/// split have every n-th index.
struct IndexRun {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t step = 1;  ///< from 1

  friend bool operator==(const IndexRun&, const IndexRun&) = default;
};
/// The runs that have these indices, which rise.
std::vector<IndexRun> runs_of(const std::vector<std::uint32_t>& indices);
/// How many ranges the runs are.
std::size_t count_ranges(const std::vector<IndexRun>& runs);
/// These ranges from one of them on, at most `most`. O(runs + most).
std::vector<IndexRange> ranges_of(const std::vector<IndexRun>& runs, std::size_t from,
                                  std::size_t most);

/// How a master's part of a job has ended, as far as jobs and tasks that wait for it need that. It
/// is small, so that it can be kept for longer than the job itself.
struct JobEnding {
  JobId job;
  std::string user{};
  JobOutcome outcome = JobOutcome::completed;
  Instant over_at{};
  std::uint32_t first = 0;            ///< position of the part's first task in the job
  std::uint32_t tasks = 0;            ///< of the part
  std::uint32_t whole = 0;            ///< of the job
  bool broken = false;                ///< some task has no end of its own
  std::vector<IndexRun> completed{};  ///< array indices, ascending
  std::vector<IndexRun> failed{};     ///< for good, likewise

  friend bool operator==(const JobEnding&, const JobEnding&) = default;
};
/// O(tasks).
JobEnding ending_of(const JobHistory& job);

/// A master knows by the outcome alone all that has to be known of the job, which MasterFacts keep
/// for good: it was not split, and all of its tasks are well, or no task is and it has failed.
bool is_known_by_outcome(const JobHistory& job);

}  // namespace muster
