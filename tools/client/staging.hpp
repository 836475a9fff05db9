#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "model/expected.hpp"
#include "storage/files/content_id.hpp"
#include "storage/files/file_tree.hpp"
#include "tools/client/api_client.hpp"
#include "tools/client/context.hpp"

// Brings the files of a folder into a cluster's store of files, for jobs that begin with them.

namespace muster::client {

/// Why a folder could not be staged.
enum class StageError : std::uint8_t {
  folder,   ///< it is no folder that can be read, or has an entry that no tree can have
  changed,  ///< files changed each time that they were read
  cluster,  ///< the API did not take it; the message is the API's
  stopped   ///< the caller's progress function or `stop_asked` said so
};

/// So far, of the staging of a folder.
struct StageProgress {
  std::uint64_t files_read = 0;  ///< looked at, those that are known from the last scan among them
  std::uint64_t bytes_read = 0;
  std::uint64_t files_to_send = 0;  ///< as far as the store has said which ones it lacks
  std::uint64_t bytes_to_send = 0;
  std::uint64_t files_sent = 0;
  std::uint64_t bytes_sent = 0;
};

/// How a folder is staged.
struct StageOptions {
  std::string user{};              ///< whose files they are to be; empty: the caller's
  std::filesystem::path memory{};  ///< folder for the ids of scanned files; empty: they are lost
  files::TreeLimits limits{};
  Elsewhere elsewhere = Elsewhere::always;  ///< which other APIs may be asked
  /// False ends the staging.
  std::function<bool(const StageProgress&)> progress{};
};

/// A folder whose files are in the store.
struct Staged {
  files::ContentId tree{};
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t files_sent = 0;  ///< the store had the others
  std::uint64_t bytes_sent = 0;
};

/// Reads the folder, as its .musterignore has it, and sends the contents that the store lacks. No
/// link is followed and nothing outside the folder is sent. Each content that is sent is as the
/// tree says: when a file has changed since it was read, the folder is read again, three times in
/// all. Messages name the path.
Expected<Staged, StageError> stage_folder(ApiClient& api, const std::filesystem::path& folder,
                                          const StageOptions& options = {});

/// Where ids of scanned files are kept for the next scan: $XDG_CACHE_HOME/muster/stage, else
/// ~/.cache/muster/stage. Empty: neither names a folder.
std::filesystem::path stage_memory_folder(const Environment& environment);

/// Whether the text is the id of a tree, and no path of a folder.
bool is_tree_id(const std::string& stage);

}  // namespace muster::client
