#pragma once

#include <string>

// Limits of the kernel on the processes of tasks (ulimit), whatever their cluster was started
// under.

namespace muster::process {

/// Gives this process the limits that tasks have: see docs/tasks.md. Hard limits that it has no
/// right to raise hold. System calls only.
void set_task_limits();

/// Raises what may hold up a cluster's own processes as far as the hard limits allow: descriptors,
/// the size of files, memory and the like. System calls only.
void raise_own_limits();

/// The hard limits that hold this process and its tasks further than they should, like "open files
/// 300, processor time 100 s"; empty: no such limits.
std::string low_limits();

}  // namespace muster::process
