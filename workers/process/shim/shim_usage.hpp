#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/usage.hpp"
#include "workers/process/shim/shim_result.hpp"

namespace muster::process {

/// The executor's word to a shim that is to tell what its task takes, and the shim's line for an
/// executor that connects: it knows that word.
inline constexpr std::string_view kUsageWanted = "usage";
inline constexpr std::string_view kTellsUsage = "tells usage";

/// A look at the processes of an attempt that runs.
struct UsageLook {
  Duration at{};  ///< since boot
  Usage so_far{};
  std::uint64_t memory_bytes = 0;  ///< that they hold

  friend bool operator==(const UsageLook&, const UsageLook&) = default;
};

/// How that is told to the executor, and read by it.
std::string usage_line(const UsageLook& look);
std::optional<UsageLook> usage_from(std::string_view line);

/// Looks at all processes below this one, a shim. `group`: the task's; null without one. The peak
/// is noted in `end` as well.
UsageLook look_at_task(const TaskGroup* group, TaskEnd& end);

}  // namespace muster::process
