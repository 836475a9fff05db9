#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace muster::process {

/// Space of the file system that a folder lies on.
struct DiskSpace {
  std::uint64_t device = 0;
  std::uint64_t free_bytes = 0;  ///< for anybody
  std::uint64_t total_bytes = 0;
};
/// Nothing when it cannot be told. Asks the kernel only, never the disk.
std::optional<DiskSpace> space_on(const std::filesystem::path& folder);

/// The blocks of all that is in the folder on that device. Links are not followed; files that
/// vanish meanwhile are left out, and so are all beyond the first `most_entries`.
std::uint64_t bytes_below(const std::filesystem::path& folder, std::uint64_t device,
                          std::size_t most_entries);

/// "812 MiB", "9.1 GiB"
std::string in_words(std::uint64_t bytes);

}  // namespace muster::process
