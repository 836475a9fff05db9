#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/expected.hpp"
#include "storage/files/content_id.hpp"
#include "storage/files/file_tree.hpp"
#include "storage/files/tree_unpack.hpp"
#include "tools/client/answers.hpp"
#include "tools/client/api_client.hpp"

// The files that tasks have left: which there are, and how they come into a folder of the user's.

namespace muster::client {

/// The files that one attempt of a task has left.
struct TaskOutputs {
  std::uint64_t task = 0;
  std::uint64_t attempt = 0;
  files::ContentId tree{};
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::int64_t kept_s = 0;    ///< when they were kept, since 1970
  std::uint64_t skipped = 0;  ///< entries that matched and that no tree can have

  friend bool operator==(const TaskOutputs&, const TaskOutputs&) = default;
};

/// Which of a job's outputs are wanted.
struct OutputsWish {
  std::uint64_t job = 0;
  std::optional<std::uint64_t> task{};     ///< nothing: of all tasks
  std::optional<std::uint64_t> attempt{};  ///< nothing: of each task the latest that has some
  bool all = false;                        ///< of each task all attempts that have some
};

/// All of these, over all pages, in the order of task and attempt. At most
/// kMostOutputsListed.
inline constexpr std::size_t kMostOutputsListed = 1'000'000;
Parsed<std::vector<TaskOutputs>> list_outputs(ApiClient& api, const OutputsWish& wish);

/// Why files could not be fetched.
enum class FetchError : std::uint8_t {
  cluster,  ///< the API did not give them; the message is the API's
  damaged,  ///< they are not as their ids say, or the text of their tree is no such text
  target,   ///< the folder that they are to come into cannot have them
  stopped   ///< the caller's progress function or `stop_asked` said so
};

/// The tree of a job's user, by its id: it is checked that it has the id.
Expected<files::FileTree, FetchError> read_tree(ApiClient& api, std::uint64_t job,
                                                const files::ContentId& tree);

/// A tree, and the folder that is to hold exactly it.
struct FetchOrder {
  std::uint64_t job = 0;
  files::ContentId tree{};
  std::filesystem::path target{};
  bool force = false;  ///< a folder with other files is replaced
  /// False ends the fetching.
  std::function<bool(const files::UnpackCount&)> progress{};
};

/// A tree that is in its folder.
struct Fetched {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  bool was_there = false;               ///< nothing was fetched
  std::filesystem::path not_removed{};  ///< where the replaced folder is still; empty: it is gone
};

/// Makes the folder, with those above it. It appears with all files, each of them checked, by one
/// rename: after a failure or a crash there is the folder that was there before, if any. A folder
/// that holds the tree already is left, an empty one replaced; any other thing in its place is
/// refused, a link among them, unless it is a folder and `force` says so. Messages name the path.
Expected<Fetched, FetchError> fetch_tree(ApiClient& api, const FetchOrder& order);

}  // namespace muster::client
