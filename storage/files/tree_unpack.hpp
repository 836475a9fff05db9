#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "storage/files/content_flow.hpp"
#include "storage/files/file_tree.hpp"

namespace muster::files {

/// User and group of what is unpacked.
struct FileOwner {
  uid_t user = 0;
  gid_t group = 0;
};

/// So far, of an unpacking.
struct UnpackCount {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  ///< those of a file that is being copied among them
};

/// How a tree is unpacked.
struct UnpackOptions {
  bool verify = false;             ///< every content is hashed while it is copied
  std::optional<FileOwner> owner;  ///< else this process'; giving files away takes privileges
  /// Hears of each file, and of parts of a large one; false ends the unpacking with `stopped`.
  std::function<bool(const UnpackCount&)> progress;
};

/// Makes all of the tree in an open folder that is empty, belongs to this process' user and is
/// closed to all others (0700): so no other user can change what is made before it is finished.
/// All in it is given to the owner, and the folder itself when all else is done.
///
/// Files get their modes, with reading and writing for their owner; folders are 0700. Works by
/// descriptors and follows no link. Nothing waits for the disk: after a crash the folder has to be
/// made anew.
///
/// On failure what it made is removed again; the message names the path. `refused` when the folder
/// is another user's or has another mode, `exists` when it is not empty, `missing` for a content
/// that the source has not, `damaged` for one that is not as the tree says, `no_space`.
FileTrouble unpack_tree(const FileTree& tree, int folder, ContentSource& source,
                        const UnpackOptions& options = {});

}  // namespace muster::files
