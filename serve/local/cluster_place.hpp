#pragma once

#include <filesystem>
#include <string>

#include "config/cluster_config.hpp"

// A cluster is the folder that it was started in last. A folder that is moved takes the cluster
// along. A copy is no cluster while the original is where it was, and takes its place later.

namespace muster::local {

/// Why nothing may be done with the cluster of this folder, which has no keeper: it is a copy of
/// another one that is there, or that runs. Empty: it is no copy.
std::string copy_fault(const std::filesystem::path& dir);

/// Why a cluster whose keeper runs is not where it was started; empty: it is.
std::string left_fault(const std::filesystem::path& dir);

/// Has the files of a folder that was moved speak of this folder, and gives it a catalog of its own
/// where that of its settings is gone and there is a shipped one of its name. Empty, or why not.
std::string settle_place(const std::filesystem::path& dir);

/// Whether the cluster was at home in another folder before.
bool is_moved(const std::filesystem::path& dir);

/// Says that the cluster is at home here. Empty, or why that cannot be said.
std::string take_place(const std::filesystem::path& dir);

/// Copies a catalog that comes with Muster into the folder, and has the settings name that one: the
/// program's may go, and may change. Empty, or why not.
std::string keep_catalog(const std::filesystem::path& dir, ClusterConfig& config);

/// The keeper of the cluster of that number, or of a copy of it, that runs on this computer for
/// this user: its folder and process. Empty: no such one.
std::string twin_of(const std::string& id);

/// Held by the keeper of a cluster, so that no copy of it runs on this computer at once.
class TwinLock {
 public:
  TwinLock(const std::string& id, const std::filesystem::path& dir);
  ~TwinLock();
  TwinLock(const TwinLock&) = delete;
  TwinLock& operator=(const TwinLock&) = delete;

  /// The keeper that has it, by its folder and process; empty: this object has it.
  const std::string& holder() const { return holder_; }

 private:
  int file_ = -1;
  std::string name_;
  std::string holder_;
};

}  // namespace muster::local
