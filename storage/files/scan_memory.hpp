#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "storage/files/content_id.hpp"
#include "storage/files/file_error.hpp"

namespace muster::files {

/// A file without its content: with an equal stamp it has not been changed.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::int64_t changed_ns = 0;     ///< mtime, since 1970
  std::int64_t inode_time_ns = 0;  ///< ctime, since 1970
  std::uint64_t inode = 0;
  std::uint64_t device = 0;

  /// Of what the system tells of the file.
  static FileStamp of(const struct stat& status);

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// The ids of a folder's files as the last scan read them, so that the next one reads only those
/// that were changed. One object serves one scan: it knows what was, and gathers what is.
///
/// A file that was changed less than 2 s before its scan began is not kept: it may be changed again
/// within a tick of the clock that stamps files, which its stamp would not show.
class ScanMemory {
 public:
  static constexpr std::size_t kMostFiles = 200'000;

  /// Nothing is known yet. `begun` is the time when the scan begins, by the machine's clock.
  explicit ScanMemory(std::chrono::sys_time<std::chrono::nanoseconds> begun);
  /// As the file says; a file that is missing, damaged or of another version says nothing.
  static ScanMemory read(const std::filesystem::path& file,
                         std::chrono::sys_time<std::chrono::nanoseconds> begun);

  /// The content of the file at that path; nothing when it is not known.
  std::optional<ContentId> find(const std::string& path, const FileStamp& stamp) const;
  /// The file is there with that content. Files beyond the bound are forgotten.
  void note(const std::string& path, const FileStamp& stamp, const ContentId& content);
  /// Puts the gathered files in the place of the file, with one rename: files that were not noted
  /// fall out.
  FileTrouble write(const std::filesystem::path& file) const;

 private:
  struct Known {
    FileStamp stamp;
    ContentId content;
  };
  using Files = std::map<std::string, Known>;

  static std::optional<Files> decode(std::string_view text);
  std::string encode() const;

  std::int64_t trusted_before_ns_;
  Files before_, now_;
};

}  // namespace muster::files
