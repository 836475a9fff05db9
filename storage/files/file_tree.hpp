#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/content_id.hpp"
#include "storage/files/file_error.hpp"

namespace muster::files {

/// Bytes of a path, of one component of it, and the number of its components.
inline constexpr std::size_t kMostPathBytes = 4096;
inline constexpr std::size_t kMostNameBytes = 255;
inline constexpr std::size_t kMostDepth = 256;

/// An entry of a tree is one of these.
enum class EntryKind : std::uint8_t { folder, file, link };

/// One entry of a tree, by its path from the tree's top: "data/in.csv".
struct TreeEntry {
  std::string path;
  EntryKind kind = EntryKind::folder;
  std::uint16_t mode = 0;   ///< of a file: bits of 0777
  std::uint64_t bytes = 0;  ///< of a file
  ContentId content{};      ///< of a file
  std::string target{};     ///< of a link

  friend bool operator==(const TreeEntry&, const TreeEntry&) = default;
};

/// Most of a tree that is taken from outside.
struct TreeLimits {
  std::size_t entries = 100'000;
  std::size_t manifest_bytes = std::size_t{64} << 20;
  std::uint64_t content_bytes = std::uint64_t{1} << 40;
};

/// The order of a tree: by components, so that what a folder has follows the folder at once.
bool path_before(std::string_view path, std::string_view other);

/// Bytes of the entry's line in a manifest.
std::size_t manifest_bytes_of(const TreeEntry& entry);

/// A path that no tree can have: why, as "the path ..."; nothing: a tree can have it.
FileTrouble path_fault(std::string_view path);

/// A link at `path` with a target that no tree can have; nothing: a tree can have it. The target
/// has to be relative and stay inside the tree, and goes up only at its beginning: so it stays
/// inside whichever links of the tree it goes through.
FileTrouble link_fault(std::string_view path, std::string_view target);

/// The names, modes and ids of all that is in a folder. Every tree keeps the rules: each entry's
/// folder is in it, before it; no path is there twice; links stay inside.
class FileTree {
 public:
  /// An empty folder's.
  FileTree() = default;
  /// Of entries in any order, and within the limits, that of the text among them. Errors name the
  /// path.
  static Expected<FileTree, FileError> of(std::vector<TreeEntry> entries,
                                          const TreeLimits& limits = {});
  /// Of a text that `encode` made, and of no other. Errors name the line.
  static Expected<FileTree, FileError> decode(std::string_view text, const TreeLimits& limits = {});

  /// The only text of this tree: "muster-tree 1 ENTRIES", then a line an entry.
  std::string encode() const;
  /// Of the text: it names the tree with all contents.
  ContentId id() const { return ContentId::of(encode()); }

  /// In the order of `path_before`.
  const std::vector<TreeEntry>& entries() const { return entries_; }
  /// Sum over the files.
  std::uint64_t content_bytes() const { return content_bytes_; }
  /// Of the files, sorted, each once.
  std::vector<ContentId> contents() const;

  friend bool operator==(const FileTree&, const FileTree&) = default;

 private:
  friend class TreeMaker;

  std::vector<TreeEntry> entries_;
  std::uint64_t content_bytes_ = 0;
};

}  // namespace muster::files
