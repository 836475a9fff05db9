#pragma once

#include <string>
#include <vector>

#include "model/job_views.hpp"
#include "model/usage_views.hpp"

namespace muster::client {

/// Key by which running tasks are sorted, the most first.
enum class UsageSort : std::uint8_t { cpu, mem };

/// Sorts the tasks; those whose figure is not known come last, and equal ones in their order.
void sort_usage(std::vector<TaskUsageView>& tasks, UsageSort by);

/// A table of running tasks with what they take of what they asked for; at most `most` of them.
std::string usage_table(const std::vector<TaskUsageView>& tasks, std::size_t most);

/// "12 running tasks: 3.4 of 16 cpus, 2310 of 32768 MiB"; figures that are not known count as
/// nothing.
std::string usage_line(const std::vector<TaskUsageView>& tasks);

/// "processor time 12.30s; memory peak 311 MiB of the 4096 MiB that a task asks for", with a hint
/// where the peak is far below that. `asked_gib`: 0 where it is not known.
std::string used_text(const JobView& job, double asked_gib);

/// A processor time: "0.42s", "1m07s", "-".
std::string cpu_text(const std::optional<double>& seconds);

/// An amount in MiB, rounded up to whole ones: "311"; "-".
std::string mib_text(const std::optional<double>& mib);

}  // namespace muster::client
