#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storage/files/object_folder.hpp"

namespace muster::files {

/// For that many times `stage_keep` the tree of a job stays that the cluster does not know, as it
/// may be one of a site that cannot be asked; and a job that is over is known by its tree until
/// then.
inline constexpr int kForgottenTimes = 4;

/// Rules of a sweep.
struct SweepRules {
  std::chrono::sys_seconds now{};
  std::chrono::days stage_keep{14};    ///< since the last use of a tree that jobs begin with
  std::chrono::days outputs_keep{90};  ///< since outputs were kept
  /// Whether the job is not over, and needs the tree that it begins with; nothing where the cluster
  /// does not know it: then its tree stays kForgottenTimes as long.
  std::function<std::optional<bool>(std::uint64_t job)> needs_files;
  /// Asked now and then; false: the sweep is to end.
  std::function<bool()> goes_on;
};

/// Sweep of a store, or of one user's part.
struct SweepResult {
  ObjectUsage left;
  ObjectUsage removed;
};

/// Contents that are put are not removed for that time: until then they are named by a tree, or
/// were put for one that never was.
inline constexpr std::chrono::hours kContentGrace{48};

/// The users who have a part of the store, as the names of their folders.
Expected<std::vector<std::string>, FileError> users_in(const std::filesystem::path& store);

/// Removes from a user's part of the store all that is not needed any more: trees that no job has
/// begun with for a while, outputs that are old, and contents that neither names. O(files of the
/// user) of memory and time. `stopped` when it was told to end: the next one goes on.
Expected<SweepResult, FileError> sweep_user(const std::filesystem::path& store,
                                            const std::string& folder, const SweepRules& rules);

}  // namespace muster::files
