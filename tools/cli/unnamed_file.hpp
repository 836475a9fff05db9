#pragma once

#include <filesystem>
#include <system_error>

namespace muster::cli {

/// A file that is being written and appears under its name only when it is whole. Until then it has
/// no name, so that nothing of it stays behind however the process ends; where the file system
/// knows no such files it has one that no other writer has, which the destructor and the signals
/// that end a command take away.
class UnnamedFile {
 public:
  /// Opens it in the folder of `target`.
  explicit UnnamedFile(std::filesystem::path target);
  ~UnnamedFile();
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;

  bool is_open() const { return file_ >= 0; }
  /// A path by which it can be opened.
  std::filesystem::path path() const;
  /// Gives it its name; a file of that name is replaced at once.
  std::error_code name();

 private:
  std::filesystem::path target_;
  std::filesystem::path part_;  ///< its name until then, which no other writer has
  bool named_ = false;          ///< it has that name
  int file_ = -1;
};

}  // namespace muster::cli
