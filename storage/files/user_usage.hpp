#pragma once

#include <cstdint>

#include "storage/files/user_files.hpp"

namespace muster::files {

/// A count of a user's bytes is used for that long; then all of them are counted anew.
inline constexpr std::int64_t kUsageAge_s = 600;

/// Bytes that the user has in the store, with at least 4 KiB for each content, and those in parts.
/// O(contents) when the last count is old. A count is shared by all processes, and may be off by
/// what others put at the same time.
Expected<std::uint64_t, FileError> bytes_used(UserFiles& files, std::int64_t now_s);

/// Adds bytes that are about to be put to the count: `no_space` when the user would have more than
/// `most`.
FileTrouble reserve_bytes(UserFiles& files, std::uint64_t bytes, std::uint64_t most,
                          std::int64_t now_s);

}  // namespace muster::files
