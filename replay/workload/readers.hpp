#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/error_list.hpp"
#include "config/numbers.hpp"
#include "config/text_file.hpp"
#include "replay/workload/left_out.hpp"
#include "replay/workload/workload.hpp"

// Types that the readers behind read_workload() hand on, and the few rules they share.

namespace muster::replay {

/// A job as readers hand it on: all its tasks are like the first one, which is the only one there.
struct JobDraft {
  WorkloadJob job;
  std::size_t tasks = 1;
};

/// Makes rows of jobs; those made by one packer share their templates.
class RowPacker {
 public:
  JobRow pack(JobDraft draft);

 private:
  std::unordered_map<std::string, std::shared_ptr<const JobTemplate>> known_;  ///< by content
};

/// The job that the row was made of; its task has no id.
JobDraft draft_of(const JobRow& row);

/// Jobs that a reader found, in any order.
struct RawJobs {
  std::vector<JobRow> jobs;
  std::string description;
  LeftOut left_out = {};
  RowPacker packer = {};

  void add(JobDraft draft) { jobs.push_back(packer.pack(std::move(draft))); }
};
using RawJobsResult = Expected<RawJobs, WorkloadError>;

/// Reads config.path, whose format is one of trace_formats().
RawJobsResult read_trace(const std::string& format, const WorkloadConfig& config);

inline constexpr NumberRange kAmount{.low = 0, .high = 1e9};
inline constexpr NumberRange kCount{.low = 0, .high = 1e15, .whole = true};
inline constexpr NumberRange kIterations{.low = 0, .high = 1e18};
inline constexpr NumberRange kPositive{.low = 0, .high = 1e15, .above_low = true};
inline constexpr NumberRange kTasks{.low = 1, .high = 1e6, .whole = true};
/// The workload class of jobs whose program is not known.
inline constexpr std::string_view kUnknownClass = "batch";
/// Jobs of a whole workload, where they are made up.
inline constexpr std::uint32_t kMostJobs = 10'000'000;
/// Tasks of a whole workload.
inline constexpr std::size_t kMostTasks = 4'000'000;
/// Points in time and durations: some 31 years.
inline constexpr Duration kLongest{std::chrono::seconds{1'000'000'000}};

/// The name that the interference model knows: the class up to the bracket ("gpt2" of "gpt2[3]").
std::string interference_name(std::string_view workload_class);

/// The amounts that the config has for what a trace does not say, kind by kind.
Resources default_demand(const TaskDefaults& task);

/// Leaves out jobs of fewer than `min_tasks`.
void leave_out_small(RawJobs& raw_jobs, std::uint32_t min_tasks);

/// Multiplies the times of submission, and says so in the description. An error when a job would be
/// submitted later than kLongest.
Expected<CompactWorkload, WorkloadError> with_times_scaled(CompactWorkload workload, double factor);

/// The failure that the list stands for; the list must not be empty.
Failure<WorkloadError> invalid(const ErrorList& errors);
/// The same failure in this folder's terms.
Failure<WorkloadError> as_workload_error(const Failure<ConfigError>& failure);
Failure<WorkloadError> as_workload_error(const Failure<TextFileError>& failure);

}  // namespace muster::replay
