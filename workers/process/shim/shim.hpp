#pragma once

#include <string>

#include "workers/process/descriptor.hpp"

namespace muster {

/// Supervises one attempt: runs what the folder's order says and leaves the result there. The lock
/// is the folder's; the executor's connection may be empty. Returns an exit code of the command: 0
/// when the result is written, whatever it is.
int supervise_attempt(const std::string& path, process::Descriptor lock,
                      process::Descriptor executor);

/// Likewise, of a process that was executed for the attempt: by a worker that was started before an
/// upgrade, which hands over the folder's lock as descriptor 3 and a connection to the executor as
/// descriptor 4; or by hand, with no executor and a lock that has to be free.
int take_over_attempt(const std::string& path);

/// take_over_attempt() of `PROGRAM shim ATTEMPT_DIR`.
int shim_main(int argc, char** argv);

}  // namespace muster
