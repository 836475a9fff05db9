#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workers/process/descriptor.hpp"

namespace muster::machines {

using process::Descriptor;

/// A process that has not ended, as /proc shows it.
struct ProcessRow {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t session = 0;
  std::uint64_t start = 0;  ///< clock ticks from the machine's boot: tells a reused number
};

/// Reads a line of /proc/PID/stat. Nothing when the line is malformed, or of a process that has
/// ended and waits to be reaped.
std::optional<ProcessRow> row_from(std::string_view stat_line);

/// Nothing when no process of that number runs.
std::optional<ProcessRow> find_process(pid_t pid);
std::vector<ProcessRow> all_processes();

/// A pidfd of exactly that process, which poll() finds readable when it has ended; empty when it
/// has.
Descriptor open_process(const ProcessRow& process);
/// Likewise, of a child of this process that has not been reaped, whether it has ended or not.
Descriptor open_child(pid_t pid);
/// Sends the signal to exactly that process; nothing happens when it has ended.
void signal_process(const ProcessRow& process, int signal);

/// Whether the process has the file open.
bool holds(pid_t pid, const struct stat& file);
/// Whether a variable MUSTER_* in the process's environment names the folder or something in it.
bool is_marked(pid_t pid, const std::string& folder);

/// The whole file; empty when it cannot be read.
std::string read_text(const std::string& path);

}  // namespace muster::machines
