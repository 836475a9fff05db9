#pragma once

#include <filesystem>
#include <optional>
#include <string>

// The folder of a local cluster, as everybody sees it who is handed one: which cluster it is, where
// that is at home, and the process that keeps its nodes running.
//
//     place          the cluster's number, and the folder that it was started in last
//     keeper.lock    held by the keeper, whose process number is in it
//     keeper.runs    there from `muster up` to an orderly end: the computer's start it is of

namespace muster {

inline constexpr const char* kPlaceFile = "place";
inline constexpr const char* kKeeperLock = "keeper.lock";
inline constexpr const char* kKeeperRuns = "keeper.runs";

/// Another text after each start of the computer.
std::string start_of_computer();

/// Which cluster a folder holds, and where that is at home.
struct ClusterPlace {
  std::string id;                ///< of this cluster and its copies alone
  std::filesystem::path folder;  ///< in which it was started last
};

/// Nothing: the folder is of an earlier version, or no cluster's.
std::optional<ClusterPlace> place_of(const std::filesystem::path& dir);
/// The file's text for it.
std::string place_text(const ClusterPlace& place);

/// Whether both are one folder, by whatever path, or would be.
bool is_one_folder(const std::filesystem::path& a, const std::filesystem::path& b);

/// The folder of the cluster of which `dir` holds a copy, also where that cannot be
/// looked at. Nothing: the cluster of `dir` is at home there, or no more where it was.
std::optional<std::filesystem::path> original_of(const std::filesystem::path& dir);

/// Why nothing is done in a folder that is a copy of the cluster in `original`, and a way out.
std::string copy_text(const std::filesystem::path& original);

/// The process number of the keeper of this folder; nothing: no keeper runs.
std::optional<int> keeper_of(const std::filesystem::path& dir);

/// Whether a keeper runs in a folder, and how the last one ended.
enum class KeeperState {
  unknown,  ///< `muster up` has not made the folder, or it is another user's
  runs,
  ended,  ///< in order, or with the computer
  killed
};
/// Of this folder: of a copy's original nothing is said.
KeeperState keeper_state(const std::filesystem::path& dir);

/// The folder belongs to this user.
bool is_own_folder(const std::filesystem::path& dir);

/// A keeper is to run there: one that finds no mark once it has the lock was taken down meanwhile.
bool is_keeper_marked(const std::filesystem::path& dir);

/// Marks the time in which the keeper is to run, so that its end is to be mended. Empty, or why
/// that cannot be marked.
std::string mark_keeper(const std::filesystem::path& dir, bool runs);

/// The environment that a keeper gets, and its nodes, workers and their tasks with it.
enum class Surroundings {
  whole,  ///< this process's
  plain   ///< of it what names the user, the language and places: no variables of one command
};

/// Starts the keeper in the background, in a session of its own, without open files of this
/// process. Empty, or why it cannot be.
std::string start_keeper(const std::filesystem::path& dir, const std::filesystem::path& program,
                         Surroundings surroundings);

}  // namespace muster
