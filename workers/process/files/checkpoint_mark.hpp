#pragma once

#include <filesystem>
#include <string>
#include <string_view>

// The folder of checkpoints that a cluster's machines share has its mark: a machine that does not
// find it there has a folder of its own, in which no other finds what its tasks have saved.

namespace muster::process {

/// The file with the mark, in the folder.
inline constexpr const char* kCheckpointMarkFile = ".muster-cluster";

/// Whether the folder should have the mark and does not; no folder lacks an empty one.
bool lacks_mark(const std::filesystem::path& folder, std::string_view mark);

/// Makes the folder, if it is not there, and puts the mark into it. Why it cannot; empty: the
/// folder has it.
std::string put_mark(const std::filesystem::path& folder, std::string_view mark);

}  // namespace muster::process
