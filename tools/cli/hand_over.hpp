#pragma once

namespace muster::cli {

/// Becomes the program of all commands, muster-full beside this one, with the same words. Returns,
/// with the exit code, only after a complaint that it cannot be run.
int hand_over(char** argv);

}  // namespace muster::cli
