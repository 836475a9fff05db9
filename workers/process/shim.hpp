#pragma once

namespace muster {

/// Supervises one attempt: runs what the folder's order says and leaves the result there. Called as
/// `PROGRAM shim ATTEMPT_DIR`, with the folder's lock as descriptor 3 and, optionally, a connection
/// to the executor as descriptor 4. Returns an exit code of the command: 0 when the result is
/// written, whatever it is.
int shim_main(int argc, char** argv);

}  // namespace muster
