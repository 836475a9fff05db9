#pragma once

#include <array>
#include <climits>
#include <string>

#include "workers/process/start_trouble.hpp"

// How a task gets to the folder that its job names. Between fork and exec: system calls only.

namespace muster::process {

/// A path without links, as far as it is there.
struct PlainPath {
  std::array<char, PATH_MAX> text{};
};

/// Follows a path to a folder that is to be made where it is missing, as the user that this process
/// has become. Links that are neither root's nor this user's are not followed. False after a
/// trouble.
bool follow_to_made(const char* path, PlainPath& plain, StartTrouble& trouble);

/// Makes what is missing of a path that was followed, and enters it. A link that stands there now
/// is not followed, whosever it is. False after a trouble.
bool make_and_enter(const PlainPath& plain, StartTrouble& trouble);

/// Enters a folder that has to be there. False after a trouble.
bool enter(const char* path, StartTrouble& trouble);

}  // namespace muster::process
