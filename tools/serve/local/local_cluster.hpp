#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/cluster_config.hpp"
#include "model/expected.hpp"
#include "tools/serve/local/local_caps.hpp"

namespace muster::local {

enum class LocalError : std::uint8_t {
  bad_request,
  running,  ///< the cluster of that folder runs already
  failed
};

inline constexpr std::uint32_t kMaxSites = 5;
inline constexpr std::uint32_t kMaxMasters = 8;

/// What a local cluster is to be.
struct LocalRequest {
  std::filesystem::path dir;
  std::uint32_t sites = 2;    ///< 1 to kMaxSites
  std::uint32_t masters = 2;  ///< 1 to kMaxMasters
  std::uint32_t nodes = 5;    ///< processes; a site and a master each at most
  std::string policy = "eva,period_s=10,eager";
  std::filesystem::path catalog;       ///< empty: the shipped one for local clusters
  double delay_scale = 0.02;           ///< of the catalog's delays
  std::uint16_t api_port = 0;          ///< 0: one that is free
  std::optional<CapsRequest> caps;     ///< none asked for: those it has, or the defaults
  std::vector<std::string> overrides;  ///< "dotted.key=value" for the cluster file
  bool new_stores = false;             ///< of an older cluster, where nodes have none
};

/// A cluster of this machine, in a folder of its own:
///
///     cluster.toml   what all its nodes read; made at the first start, yours to change afterwards
///     client.json    where the command line finds the API
///     token, pki/, state/
///     keeper.lock    held by the process that keeps the nodes running, whose number is in it
class LocalCluster {
 public:
  explicit LocalCluster(std::filesystem::path dir) : dir_(std::move(dir)) {}

  std::filesystem::path config_file() const { return dir_ / "cluster.toml"; }
  bool exists() const { return std::filesystem::exists(config_file()); }
  /// The keeper's process number while it runs.
  std::optional<int> keeper() const;

  /// Makes the folder's files. Those of an earlier start stay, but for the policy and overrides.
  Expected<bool, LocalError> prepare(const LocalRequest& request) const;
  /// Starts the keeper in the background.
  Expected<bool, LocalError> start(const std::filesystem::path& program) const;
  /// Ends the keeper and the nodes, and, unless they are to be kept, all instances with what runs
  /// on them; tasks go on when the cluster is started again. Waits as long as instances end, and
  /// calls `progress` now and then with how many are left.
  Expected<bool, LocalError> stop(bool keep_instances,
                                  const std::function<void(std::size_t)>& progress) const;

 private:
  std::filesystem::path dir_;
};

/// Runs the nodes of a cluster file in processes of their own, starts those again that end, and
/// returns when the process is told to end (SIGTERM, SIGINT) and they have.
int keep_nodes(const std::filesystem::path& dir, const std::filesystem::path& program);

/// The running command itself.
std::filesystem::path own_program();

}  // namespace muster::local
