#pragma once

#include <cstdint>
#include <filesystem>

namespace muster::machines {

/// Capacity of this computer for workers, as processes are given it.
struct Computer {
  std::uint32_t cores = 1;         ///< that this process may use
  std::uint64_t memory_bytes = 0;  ///< of the computer, or of this process's group when less
  std::uint64_t free_bytes = 0;    ///< that new processes can have, by both
};

/// Looks into `root`/proc and `root`/sys. Limits that cannot be read count as absent.
Computer look_at_computer(const std::filesystem::path& root = "/");

/// How many workers a computer bears at once when their tasks do little: 16 a core, and no more
/// than it has room for at 128 MiB each; at least 4. A worker itself takes 31 MiB, idle or with 20
/// tasks, of which all but 4 MiB is shared with the others, and for each task's shim 0.2 MiB; the
/// rest is for the tasks.
std::uint32_t most_workers(const Computer& computer);

}  // namespace muster::machines
