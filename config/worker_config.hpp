#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/cluster_config.hpp"
#include "config/config_error.hpp"
#include "config/config_keys.hpp"
#include "config/endpoint.hpp"
#include "config/key_kinds.hpp"
#include "model/expected.hpp"
#include "model/ids.hpp"
#include "model/resources.hpp"
#include "model/time.hpp"

namespace muster {

/// Settings of the worker of one instance.
struct WorkerConfig {
  std::uint64_t instance = InstanceId::kNone;
  Resources capacity;                     ///< of the instance
  std::vector<std::string> master_texts;  ///< as written
  std::vector<Endpoint> masters;          ///< where its master listens for workers; tried in turn
  std::string master_name;  ///< common name of the master's node; empty: any node of the authority
  std::filesystem::path certificate, key, trusted;  ///< trusted: the authority of the nodes
  bool insecure_loopback = false;
  std::filesystem::path state_dir;        ///< outlives the worker's process
  std::filesystem::path checkpoint_root;  ///< shared by all instances
  std::string checkpoint_mark;            ///< of the shared one; empty: it is shared
  std::filesystem::path files;            ///< the store of files; empty: this machine has no such
  std::uint32_t outputs_max_mib = 16'384;
  std::uint32_t user_max_mib = 262'144;
  Duration files_patience{std::chrono::minutes{30}};
  std::vector<std::string> hide;       ///< is out of a task's sight besides these two
  std::filesystem::path shim_program;  ///< empty: the muster command itself
  std::filesystem::path log;           ///< rotated; empty: standard error
  LiveWorkerConfig tasks;              ///< `checkpoints` is not used
  Duration heartbeat{std::chrono::seconds{2}};
  Duration timeout{std::chrono::seconds{10}};
  std::uint32_t max_frame_bytes = 1u << 20;
};

/// Reads and checks a worker's settings from a file, if one is named, and "key=value" overrides,
/// which win. All errors at once. Relative paths are meant from the file's folder.
Expected<WorkerConfig, ConfigError> load_worker_config(const std::filesystem::path& file,
                                                       const std::vector<std::string>& overrides);

/// A worker file with every key that has a value, so that what it says stays when defaults change.
std::string worker_config_text(const WorkerConfig& config);

/// Every key that load_worker_config() understands, in the order of the documentation.
std::vector<KeyInfo> worker_config_keys();

namespace config {

/// The keys of a worker file.
template <>
const std::vector<KeySpecOf<WorkerConfig>>& key_table<WorkerConfig>();

}  // namespace config

}  // namespace muster
