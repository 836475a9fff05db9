#pragma once

#include <optional>
#include <string>

#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/shim/lease.hpp"
#include "workers/process/shim/line_server.hpp"
#include "workers/process/shim/shim_result.hpp"

// Files that an attempt begins with, and those that it leaves, are moved by a program of its own
// (files_program.cpp), which only such attempts start: the shim stays as small as it is.

namespace muster::process {

/// Which way files go: its words for the program.
inline constexpr const char* kFilesIn = "in";
inline constexpr const char* kFilesOut = "out";

/// Exit codes of the program.
inline constexpr int kFilesDone = 0;
inline constexpr int kFilesFault = 3;    ///< by the fault of the job: nor will it do later
inline constexpr int kFilesTrouble = 4;  ///< by a fault of the store or of this machine
inline constexpr int kFilesMissing =
    5;  ///< all is kept that is there, and a pattern matches nothing

/// Parts of a shim that go on while files are moved.
struct FilesWait {
  int signals = -1;  ///< SIGCHLD and SIGTERM
  LineServer& control;
  const Lease& lease;
};

/// Why an attempt cannot start.
struct FilesFailure {
  EndKind kind = EndKind::not_launched;
  std::string reason;
};

/// Makes the work folder in the attempt's folder, with the files that the order's task begins with.
/// A request to stop ends that, which the end notes. While it waits, the executor's orders are
/// heard, and the lease.
std::optional<FilesFailure> bring_files(const Order& order, const std::string& attempt,
                                        const FilesWait& wait, TaskEnd& end);

/// Keeps the outputs of a task that is over; the end notes what is missing or was not kept. After a
/// request to stop, or where the machine has to go, that takes no longer than a minute.
void keep_outputs(const Order& order, const std::string& attempt, const FilesWait& wait,
                  TaskEnd& end);

}  // namespace muster::process
