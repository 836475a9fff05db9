#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>

#include "model/time.hpp"
#include "workers/process/files/attempt_dir.hpp"

namespace muster::process {

/// Removes the folders of settled attempts after a while, on a thread of its own: a folder may hold
/// much.
class AttemptSweeper {
 public:
  struct Bounds {
    Duration keep{};       ///< after an attempt was settled
    std::size_t most = 0;  ///< settled folders; past it the oldest go earlier
  };
  AttemptSweeper(std::filesystem::path attempts, Bounds bounds);
  ~AttemptSweeper();
  AttemptSweeper(const AttemptSweeper&) = delete;
  AttemptSweeper& operator=(const AttemptSweeper&) = delete;

  /// Marks the attempt's folder; it goes after `keep` (from the mark, when it had one before).
  void acknowledge(const AttemptKey& key);
  /// The disk is full: the work folders of settled attempts go at once, and all else of them a
  /// minute after they were settled.
  void hurry();

 private:
  struct Acknowledged {
    AttemptKey key;
    Duration due{};  ///< since boot
    bool has_work = true;
  };

  void work();
  bool remove_work_folders(std::unique_lock<std::mutex>& lock);

  std::filesystem::path attempts_;
  Bounds bounds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Acknowledged> acknowledged_;  ///< oldest first; guarded by mutex_
  bool hurries_ = false;                   ///< guarded by mutex_
  bool quit_ = false;                      ///< guarded by mutex_
  std::thread thread_;
};

}  // namespace muster::process
