#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storage/files/content_flow.hpp"
#include "storage/files/file_tree.hpp"
#include "storage/files/ignore_rules.hpp"
#include "storage/files/path_pattern.hpp"
#include "storage/files/scan_memory.hpp"

namespace muster::files {

/// So far, of a scan.
struct ScanCount {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t files_read = 0;  ///< the others were known from the scan before
  std::uint64_t bytes_read = 0;  ///< each time that a file was read
};

/// Hears of each entry that is looked at, each part that is read of a file and each file that is
/// taken; false ends the scan with `stopped`.
using ScanProgress = std::function<bool(const ScanCount&)>;

/// An entry that outputs matched and no tree can have.
struct SkippedEntry {
  std::string path;  ///< printable
  std::string reason;

  friend bool operator==(const SkippedEntry&, const SkippedEntry&) = default;
};

/// Entries of a folder that a scan takes, and its limits.
struct ScanOptions {
  TreeLimits limits;                     ///< bytes of a file that is read again count each time
  std::size_t most_looked_at = 400'000;  ///< entries, those that are ignored among them
  std::size_t most_deep = kMostDepth;    ///< folders inside each other
  IgnoreRules ignore;
  /// Only those that some pattern matches, with all that is in a folder that one matches, and the
  /// folders above them. Those that no tree can have are skipped; without patterns they end the
  /// scan.
  std::optional<std::vector<PathPattern>> outputs;
  ScanMemory* memory = nullptr;  ///< its files are not read; it hears of all files
  ScanProgress progress;
};

/// A folder as a scan has found it.
struct ScannedFolder {
  FileTree tree;
  ScanCount count;
  std::vector<SkippedEntry> skipped;  ///< the first 100
  std::uint64_t skipped_count = 0;
};

/// Makes a tree of an open folder and hands the contents to the sink, which is finished.
///
/// The folder may change meanwhile, and may be its user's who wishes harm: nothing outside it is
/// read and no link followed. No mount is entered, except one of the folder's own file system where
/// the kernel has no openat2. An entry that was a file when it was looked at is opened without
/// waiting, and not read when it has become a FIFO or a device. A hard link is a file of the
/// folder, whatever other names it has: where the system lets users link to files of others
/// (protected_hardlinks=0), a scan with the rights to read these takes them.
///
/// A file that changes while it is read is read again, three times in all. The tree has each file
/// as it was at some point of time of the scan; different files may be of different points. A
/// change shows in size, mtime or ctime: one through a mapping of the file, or on another host of a
/// network file system, may not show in time.
///
/// A failure of the sink ends the scan, with outputs too: the tree names no content that was not
/// taken. `refused` for an entry that no tree can have, `changed` for a file that does not come to
/// rest, `too_large` beyond a limit, `exhausted` without descriptors or memory. Each names the
/// path.
Expected<ScannedFolder, FileError> scan_folder(int folder, ContentSink& sink,
                                               const ScanOptions& options = {});

}  // namespace muster::files
