#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/time.hpp"
#include "storage/stores/store_error.hpp"

namespace muster {

/// Backups of the stores of one node, which are made by schedule.
struct BackupPlan {
  /// Has to be there: a disk that is not mounted is not replaced by a folder of another one.
  std::filesystem::path to;
  std::filesystem::path own;                  ///< way from there to the node's, which is made
  Duration every{};                           ///< between two backups
  std::uint32_t keep = 7;                     ///< complete ones that are kept; at least 1
  std::vector<std::filesystem::path> stores;  ///< a backup has a copy of each, by its folder's name
  /// The node's own mark, beside its stores; empty: the folder is not marked as the node's.
  std::filesystem::path mark{};

  /// Of this node alone: each backup is a folder in it.
  std::filesystem::path folder() const { return to / own; }
};

/// "2026-11-29T07-05-12Z": such names sort as their times do.
std::string backup_name(std::chrono::sys_seconds at);
/// Nothing when the name is not exactly one that backup_name() makes.
std::optional<std::chrono::sys_seconds> time_of_backup(const std::string& name);

/// The times of the complete backups in the folder, oldest first; empty where there is no folder.
std::vector<std::chrono::sys_seconds> backups_in(const std::filesystem::path& folder);

/// Time until a node that starts now has to make a backup: at most `every`, wherever the clock
/// stands.
Duration until_first_backup(const std::vector<std::chrono::sys_seconds>& made,
                            std::chrono::sys_seconds now, Duration every);
/// Time from a backup that failed to the next try.
Duration until_backup_again(Duration every);

/// Makes a backup of the stores, which their owner may have open, and then removes complete ones
/// beyond those that are kept. A crash at any moment leaves complete backups and perhaps
/// "NAME.partial", which the next call removes. `stop`: from another thread; the backup is given up
/// within a MiB of its copy. An error has been cleaned up after; older backups stay.
StoreTrouble make_backup(const BackupPlan& plan, std::chrono::sys_seconds now,
                         const std::atomic<bool>& stop);

}  // namespace muster
