#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "storage/stores/backup_folder.hpp"

namespace muster {

/// Makes the backups of a node's stores on a thread of its own, for as long as it lives. One that
/// fails is warned of and tried again; work does not wait for it. At its end a backup that is under
/// way is given up.
class BackupKeeper {
 public:
  struct Host {
    std::function<std::chrono::sys_seconds()> clock;  ///< the wall's
    std::function<void(const std::string&)> note;     ///< called on that thread, as `warn` is
    std::function<void(const std::string&)> warn;
  };

  BackupKeeper(BackupPlan plan, Host host);
  ~BackupKeeper();
  BackupKeeper(const BackupKeeper&) = delete;
  BackupKeeper& operator=(const BackupKeeper&) = delete;

  /// Why the newest backup that was due has not been made; empty: it has. From any thread.
  std::string trouble() const;

 private:
  void run();
  /// The time until the next one.
  Duration make();

  const BackupPlan plan_;
  const Host host_;
  std::atomic<bool> stops_{false};
  mutable std::mutex mutex_;
  std::condition_variable ends_;
  std::string trouble_;
  std::thread thread_;  ///< uses all of the above
};

}  // namespace muster
