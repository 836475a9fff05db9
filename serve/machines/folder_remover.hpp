#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "model/ids.hpp"

namespace muster::machines {

/// Removes the folders of machines that are over, one after the other, on a thread of its own: a
/// task may leave a million files, and other machines must not wait for their removal. A folder is
/// moved into DIR/leaving at once; the next remover takes up the folders that are left there.
class FolderRemover {
 public:
  struct Host {
    /// The folder that the machine has outside its own; removed with it, and the one that this is
    /// in with the last. May be empty.
    std::function<std::filesystem::path(InstanceId)> outside;
    /// Why a folder cannot be removed. On either thread.
    std::function<void(InstanceId, const std::string&)> tell;
  };
  /// Takes up what an earlier one has left. `dir`: of all machines.
  FolderRemover(std::filesystem::path dir, Host host);
  /// Folders that are not removed by then stay in DIR/leaving.
  ~FolderRemover();
  FolderRemover(const FolderRemover&) = delete;
  FolderRemover& operator=(const FolderRemover&) = delete;

  /// The machine's folder is in its place no more when this returns. It may not be there.
  void take(InstanceId instance);

 private:
  void run();
  bool remove_outside(InstanceId instance);
  bool remove(InstanceId instance, const std::filesystem::path& folder);
  std::deque<InstanceId> left() const;
  std::filesystem::path leaving(InstanceId instance) const;

  std::filesystem::path dir_;
  Host host_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<InstanceId> queue_;  ///< under the mutex, as are the next three
  pid_t child_ = -1;              ///< that removes at present
  bool quit_ = false;
  bool looks_ = true;          ///< folders may be leaving that are not in the queue
  std::set<InstanceId> kept_;  ///< the thread's: those that cannot be removed
  std::thread thread_;         ///< last: it uses all the others
};

}  // namespace muster::machines
