#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/time.hpp"

namespace muster::local {

/// The one `muster up` that works on a cluster's folder. The lock is on the folder itself, goes
/// with the process that has it, and leaves nothing behind: folders that were made for it and are
/// still empty go with it.
class FolderLock {
 public:
  /// Makes the folder where it is not there, and waits for the lock; `on_wait` is called once when
  /// somebody else has it.
  FolderLock(std::filesystem::path dir, Duration at_most, const std::function<void()>& on_wait);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// Why there is no lock; empty: it is held.
  const std::string& trouble() const { return trouble_; }
  /// The folder and those above it, from the top on, as far as they were made for it.
  const std::vector<std::filesystem::path>& made() const { return made_; }

 private:
  bool open_folder();
  bool is_still_there() const;
  void close_folder();

  std::filesystem::path dir_;
  std::vector<std::filesystem::path> made_;
  std::string trouble_;
  int folder_ = -1;
};

}  // namespace muster::local
