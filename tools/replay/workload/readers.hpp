#pragma once

#include <string>
#include <string_view>

#include "config/error_list.hpp"
#include "config/numbers.hpp"
#include "tools/replay/workload/workload.hpp"

// The readers behind read_workload(), one a format, and the few rules they share.

namespace muster::replay {

using WorkloadResult = Expected<Workload, WorkloadError>;

/// Trace JSON of the Eva artifact: an object of jobs by number.
WorkloadResult read_eva_json(const std::filesystem::path& file);
/// Pod list of Alibaba's cluster-trace-gpu-v2023.
WorkloadResult read_openb_csv(const std::filesystem::path& file);
/// Muster's own format (config/workloads/README.md describes the columns).
WorkloadResult read_muster_csv(const std::filesystem::path& file);
/// Makes jobs up by drawing from a list of workloads; the same seed gives the same jobs.
WorkloadResult make_synthetic(const SyntheticWorkload& config, std::uint64_t seed);

inline constexpr NumberRange kAmount{.low = 0, .high = 1e9};
inline constexpr NumberRange kCount{.low = 0, .high = 1e15, .whole = true};
inline constexpr NumberRange kIterations{.low = 0, .high = 1e18};
inline constexpr NumberRange kPositive{.low = 0, .high = 1e15, .above_low = true};
inline constexpr NumberRange kTasks{.low = 1, .high = 1e6, .whole = true};
/// Points in time and durations: some 31 years.
inline constexpr Duration kLongest{std::chrono::seconds{1'000'000'000}};

/// The name that the interference model knows: the class up to the bracket ("gpt2" of "gpt2[3]").
std::string interference_name(std::string_view workload_class);

/// Sorts the jobs by submission (equal ones stay as they are) and numbers the tasks 0, 1, ...
void put_in_order(Workload& workload);

/// The failure that the list stands for; the list must not be empty.
Failure<WorkloadError> invalid(const ErrorList& errors);
/// The same failure in this folder's terms.
Failure<WorkloadError> as_workload_error(const Failure<ConfigError>& failure);

}  // namespace muster::replay
