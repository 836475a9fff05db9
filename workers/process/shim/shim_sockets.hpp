#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/task_metrics.hpp"
#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/progress.hpp"

namespace muster::process {

/// An executor's line that ends an attempt for the space that it takes of a full disk, before the
/// reason.
inline constexpr std::string_view kDiskFull = "disk ";
/// Likewise, for one whose checkpoints take the most: they are removed too.
inline constexpr std::string_view kDiskFullOfCheckpoints = "checkpoints ";
/// A shim's word before the number of its process.
inline constexpr const char* kShimIs = "shim ";
/// Its word before the result, where it could not leave that in its folder.
inline constexpr const char* kResultIs = "result ";
/// The longest line that a shim takes from its executor.
inline constexpr std::size_t kMaxControlLine = 1024;

/// An abstract socket name that cannot be guessed; empty when the machine gives no random bytes.
std::string random_name();

/// Listens under an abstract name; empty when that cannot be.
Descriptor listen_abstract(const std::string& name);
/// Connects to the listener under an abstract name; empty without one of this process's user.
Descriptor connect_abstract(const std::string& name);

/// The socket on which the order's task reports, and its name for MUSTER_SOCKET: a path in the
/// attempt's folder, or "@NAME" of an abstract one when the path would be too long for an address.
std::pair<Descriptor, std::string> listen_for_task(int folder, const std::string& path,
                                                   const WorkerTerms& worker);

/// Makes a folder, and those above it, and hands it to the order's user; 0 or an errno.
int make_task_folder(const std::string& path, const WorkerTerms& worker);

/// Puts the order's script into the attempt's folder, for its user alone to read and to execute; 0
/// or an errno.
int write_script(int folder, const Order& order);

/// How a point of progress is told to the executor, and read by it.
std::string progress_line(const ProgressPoint& point);
std::optional<ProgressPoint> point_from(std::string_view line);
/// Likewise, for all metrics of a task.
std::string metrics_line(const Metrics& metrics);
std::optional<Metrics> metrics_from(std::string_view line);

/// Writes the result; waits a while for room when the disk is full.
bool write_patiently(int folder, std::string_view result);

}  // namespace muster::process
