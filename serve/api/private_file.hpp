#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "model/expected.hpp"

namespace muster::api {

/// Why a file that only its owner may read cannot be used.
enum class FileError : std::uint8_t { missing, unusable };

/// The content of a plain file of this process' user, or root's, with no access for others; at most
/// `most` bytes, of those behind the first `from`.
Expected<std::string, FileError> read_private(const std::filesystem::path& file, std::size_t most,
                                              std::uint64_t from = 0);

/// Puts the text in the place of the file, for its owner's eyes only: a reader finds the old text
/// or the new one, whole. Nothing when it is on the disk, else why it is not.
std::optional<std::string> replace_private(const std::filesystem::path& file,
                                           const std::string& text);

/// Stamp that tells one state of a file from another without reading it.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};
/// The empty stamp when there is no file.
FileStamp stamp_of(const std::filesystem::path& file);

/// Keeps others that ask for it out while it lives, in this process and in any other.
class FileLock {
 public:
  static constexpr std::chrono::milliseconds kPatience{2000};

  /// Made beside the file; without a file it locks nothing. Waits for its turn, up to that time.
  explicit FileLock(const std::filesystem::path& file,
                    std::chrono::milliseconds patience = kPatience);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Why it is not held; empty: it is held.
  const std::string& fault() const { return fault_; }

 private:
  int descriptor_ = -1;
  std::string fault_;
};

}  // namespace muster::api
