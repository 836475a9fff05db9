#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/files/disk_claims.hpp"
#include "workers/process/files/disk_use.hpp"

namespace muster::process {

/// Folders that a watch looks at, and how often.
struct DiskWatchOptions {
  std::filesystem::path attempts;     ///< the folder of the attempts' folders
  std::filesystem::path checkpoints;  ///< shared by the workers of a computer
  std::uint64_t who = 0;              ///< this worker's number among those
  Duration every{};                   ///< 1 ms or more
  /// Less free room is too little; nothing: 1 GiB or 5 percent of the file system, whichever is
  /// less.
  std::optional<std::uint64_t> least_free_bytes;
  std::function<std::optional<DiskSpace>(const std::filesystem::path&)> look = space_on;
};

/// An attempt that is to end, for it takes the most of a disk that is full.
struct DiskVerdict {
  AttemptKey key;
  std::string reason;
  bool drop_checkpoint = false;  ///< its checkpoints take more than all else of it
};

/// Looks after the disks of a worker's attempts, on a thread of its own. Only when one of them has
/// too little room, or when somebody wants to know, are the attempts' folders measured.
class DiskWatch {
 public:
  static constexpr Duration kMeasureEvery = std::chrono::seconds{10};

  /// Called on the watch's thread. `looked` comes after each look with too little room, with why
  /// nothing should be begun, and after the first one with enough again, with nothing.
  struct Listener {
    std::function<void(DiskVerdict)> end;
    std::function<void(const std::string& full)> looked;
  };

  DiskWatch(DiskWatchOptions options, Listener listener);
  ~DiskWatch();
  DiskWatch(const DiskWatch&) = delete;
  DiskWatch& operator=(const DiskWatch&) = delete;

  void add(const AttemptKey& key, std::filesystem::path checkpoints);
  void remove(const AttemptKey& key);
  /// Has the attempts' folders measured soon, unless that was done within kMeasureEvery.
  void measure();
  /// Blocks of the attempt's folder when it was measured last, of some ten thousand files at most;
  /// 0: it was not.
  std::uint64_t bytes_of(const AttemptKey& key) const;
  /// Why nothing should be begun at present; empty: there is room.
  std::string full() const;

 private:
  struct Use {
    AttemptKey key;
    std::uint64_t folder_bytes = 0;
    std::uint64_t checkpoint_bytes = 0;
    std::uint64_t bytes() const { return folder_bytes + checkpoint_bytes; }
  };
  struct Ending {
    AttemptKey key;
    Duration since{};
  };

  void work();
  void look();
  void measure_all();
  bool lacks_space(const DiskSpace& room) const;
  std::uint64_t least_free(const DiskSpace& room) const;
  void act(const std::filesystem::path& place, const DiskSpace& room);
  std::optional<Use> largest(std::uint64_t device) const;
  bool still_ends(const DiskClaims& claims);
  DiskClaims claims_on(std::uint64_t device) const;

  const DiskWatchOptions options_;
  const Listener listener_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<AttemptKey, std::filesystem::path> attempts_;  ///< guarded, with their checkpoints
  std::string full_;                                      ///< guarded
  bool quit_ = false;                                     ///< guarded
  bool wanted_ = false;                                   ///< guarded: to be measured
  std::optional<Duration> measured_at_;                   ///< guarded
  std::map<AttemptKey, std::uint64_t> measured_;          ///< guarded
  // Below belongs to the watch's thread.
  std::set<std::uint64_t> claimed_;  ///< devices on which others know what this worker takes
  std::optional<Ending> ending_;
  std::set<AttemptKey> given_up_;  ///< did not end when they were to
  std::thread thread_;
};

}  // namespace muster::process
