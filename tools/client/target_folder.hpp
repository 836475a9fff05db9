#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "storage/files/file_error.hpp"
#include "storage/files/file_io.hpp"

namespace muster::client {

/// The place of a folder that a new one with other files is to take, by one rename. Works by
/// descriptors of the folder above it, and follows no link in the place itself.
class TargetFolder {
 public:
  /// Looks at the place and makes the folders above it. `refused` when there is a link, a thing
  /// that is no folder, or the folder that this process works in; `invalid` for a path that names
  /// no folder in another one.
  static Expected<TargetFolder, files::FileError> open(const std::filesystem::path& path);
  TargetFolder(TargetFolder&& other) noexcept = default;
  TargetFolder& operator=(TargetFolder&&) = delete;
  /// A new folder that was not put in place goes away.
  ~TargetFolder();

  /// Whether there is a folder that is not empty.
  bool has_files() const { return has_files_; }
  /// The folder that is there; -1: there is no folder.
  int present() const { return present_.get(); }
  /// The folder above.
  int parent() const { return parent_.get(); }

  /// Makes an empty folder, 0700, beside the place.
  files::FileTrouble make_new();
  int fresh() const { return fresh_.get(); }
  /// Gives the new folder the mode that new folders have and puts it in the place; a folder that
  /// was there is removed then. Where that one could not be removed: its path; else an empty one.
  Expected<std::filesystem::path, files::FileError> put_in_place();

 private:
  TargetFolder() = default;
  files::FileTrouble look();
  files::FileTrouble exchange();
  std::string shown(const std::string& name) const;

  std::filesystem::path above_;
  std::string name_;
  std::string fresh_name_;  ///< empty: there is no new folder
  std::string aside_name_;  ///< of the replaced folder; empty: nothing was replaced
  files::Descriptor parent_, present_, fresh_;
  bool has_files_ = false;
  mode_t mode_ = 0755;
};

}  // namespace muster::client
