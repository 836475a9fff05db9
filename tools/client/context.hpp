#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/expected.hpp"

namespace muster::client {

/// The command line's options for the place of the cluster; empty: not given.
struct ContextOptions {
  std::string api;         ///< http://HOST:PORT or https://...
  std::string token_file;  ///< whose first line is the token
  std::string cluster;     ///< folder of a local cluster
  std::string ca{};        ///< PEM file of the authorities that an API with TLS is trusted by
};

/// Where the cluster's API is and what opens it.
struct ClusterContext {
  std::string api;                  ///< without a slash at the end
  std::vector<std::string> others;  ///< of the same cluster, likewise
  std::string token;
  std::string token_source;  ///< where the token came from, for messages
  std::string ca{};          ///< file of the authorities that are trusted; empty: the system's
  std::filesystem::path folder{};  ///< that names the API; empty: a URL does
};

enum class ContextError : std::uint8_t {
  no_cluster,  ///< no cluster is named
  invalid      ///< somebody does, in a way that is of no use
};

/// The message for the case that no folder can be told.
inline constexpr std::string_view kNoHome =
    "HOME is not set, and the account has no home: say where the cluster is with --cluster FOLDER "
    "(`up` and `down`: --dir), or set HOME or XDG_STATE_HOME";

/// The value of an environment variable; nothing when it is not set or empty.
using Environment = std::function<std::optional<std::string>(const std::string&)>;
Environment process_environment();

/// Finds the cluster: by the options, then MUSTER_API with MUSTER_TOKEN or MUSTER_TOKEN_FILE, then
/// client.json in the folder of a local cluster (the option, MUSTER_CLUSTER, or
/// local_cluster_folder()). The file is {"api": "http://127.0.0.1:8800", "token_file": "..."},
/// and may list the APIs of other nodes as "others" and name a "ca"; relative files are meant from
/// its folder. The authorities are those of the option, MUSTER_CA or that file.
Expected<ClusterContext, ContextError> find_cluster(const ContextOptions& options,
                                                    const Environment& environment);

/// Where `muster up` keeps the local cluster unless it is told otherwise:
/// $XDG_STATE_HOME/muster/local or ~/.local/state/muster/local, where ~ is HOME or else the home of
/// the account. Empty: neither names a folder.
std::filesystem::path local_cluster_folder(const Environment& environment);

}  // namespace muster::client
