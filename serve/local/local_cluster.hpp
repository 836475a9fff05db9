#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/cluster_config.hpp"
#include "model/expected.hpp"
#include "serve/local/kept_logs.hpp"
#include "serve/local/local_roles.hpp"
#include "serve/local/local_settings.hpp"

namespace muster::local {

/// Outcome of the end of a cluster.
struct Stopped {
  bool ran = false;           ///< it had a keeper
  std::size_t instances = 0;  ///< that were there, and have ended
  KeptLogs logs{};
};

/// How a cluster is to end.
struct StopRequest {
  bool keep_instances = false;  ///< with what runs on them
  bool drop_logs = false;       ///< the output of their tasks need not be kept
  std::function<void(std::size_t)> progress{};
};

/// A cluster of this machine, in a folder of its own:
///
///     cluster.toml   what all its nodes read; made at the first start, yours to change afterwards
///     cluster.toml.before   what it said before a change that no start has stood yet
///     cluster.toml.failed   the last change with which the cluster did not come up
///     client.json    where the command line finds the API
///     token, pki/, state/
///     down.lock      held by the `muster down` that ends it
///     place, keeper.lock, keeper.runs   see config/cluster_folder.hpp
class LocalCluster {
 public:
  explicit LocalCluster(std::filesystem::path dir) : dir_(std::move(dir)) {}

  std::filesystem::path config_file() const { return dir_ / "cluster.toml"; }
  bool exists() const { return std::filesystem::exists(config_file()); }
  /// The keeper's process number while it runs.
  std::optional<int> keeper() const;

  /// Makes the files of the folder, which is there, or changes what the request asks to have
  /// otherwise. Nothing is written when the request is refused: for its own faults, or because the
  /// cluster runs and would have to be another one.
  Expected<Prepared, LocalError> prepare(const LocalRequest& request) const;
  /// The cluster has come up with its settings: those from before are forgotten.
  void keep_settings() const;
  /// The cluster has not come up: puts the settings from before back. False: it had no others.
  Expected<bool, LocalError> restore_settings() const;
  /// Starts the keeper in the background.
  Expected<bool, LocalError> start(const std::filesystem::path& program) const;
  /// Starts a keeper again that was killed. Whether there was such a one, and it runs again.
  bool start_again(const std::filesystem::path& program) const;
  /// Ends the keeper and the nodes, and, unless they are to be kept, all instances with what runs
  /// on them; tasks go on when the cluster is started again, and what they have written is kept.
  /// Waits as long as instances end, and calls `progress` now and then with how many are left.
  Expected<Stopped, LocalError> stop(const StopRequest& request) const;

 private:
  std::filesystem::path before_file() const { return dir_ / "cluster.toml.before"; }
  /// Of files and stores; empty, or why not.
  std::string make_parts(const LocalRequest& request, const ClusterConfig& config) const;
  /// Ends what was left in another folder, and takes this one. Empty, or why not.
  std::string settle_in(const ClusterConfig& config) const;
  std::string put_settings(const ClusterConfig& before, const Prepared& prepared) const;

  std::filesystem::path dir_;
};

/// Runs the nodes of a cluster file in processes of their own, starts those again that end, and
/// returns when the process is told to end (SIGTERM, SIGINT) and they have.
int keep_nodes(const std::filesystem::path& dir, const std::filesystem::path& program);

/// The running command itself.
std::filesystem::path own_program();

}  // namespace muster::local
