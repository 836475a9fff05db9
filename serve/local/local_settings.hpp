#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/cluster_config.hpp"
#include "model/catalog.hpp"
#include "model/expected.hpp"
#include "serve/local/local_caps.hpp"

// Settings of the file of a local cluster: its present ones, and those that the flags of `up` ask
// for instead.

namespace muster::local {

enum class LocalError : std::uint8_t {
  bad_request,
  running,  ///< the cluster of that folder runs, and not as it is asked to
  failed
};

inline constexpr std::uint32_t kMaxSites = 5;
inline constexpr std::uint32_t kMaxMasters = 8;

/// Wanted settings of a local cluster. Of one that is there what is not given stays as it is.
struct LocalRequest {
  std::uint32_t sites = 2;            ///< 1 to kMaxSites
  std::uint32_t masters = 1;          ///< 1 to kMaxMasters
  std::uint32_t nodes = 4;            ///< processes; a site and a master each at most
  std::string policy;                 ///< default: kLocalPolicy
  std::filesystem::path catalog;      ///< default: the shipped one for local clusters
  std::filesystem::path prices;       ///< file of prices that move; default: those of the catalog
  std::optional<double> price_speed;  ///< of `prices` alone; default: 1
  std::optional<double> delay_scale;
  std::optional<std::uint16_t> api_port;  ///< 0: one that is free, which it is when it has one
  std::optional<CapsRequest> caps;
  std::vector<std::string> overrides;  ///< "dotted.key=value" for the cluster file
  std::optional<Endpoint> join;        ///< of a new cluster: where machines of one's own join
  bool rents = false;       ///< with `join`: processes of this computer are rented beside them
  bool new_stores = false;  ///< of an older cluster, whose nodes have no stores
  std::filesystem::path own_parent{};  ///< above its folder, and made for it; empty: no such folder
  std::vector<std::filesystem::path> made{};  ///< its folder and those above that were just made
};

inline constexpr const char* kLocalPolicy = "muster,period_s=10,eager,free_wait_s=0";
inline constexpr double kLocalDelayScale = 0.02;

/// A flag that asks for something else than what holds.
struct SettingChange {
  std::string flag;   ///< "--policy no-packing"
  std::string holds;  ///< "policy eva"
};

/// A cluster that can be started, or runs.
struct Prepared {
  ClusterConfig config;
  bool runs = false;
  std::vector<SettingChange> changes{};  ///< of one that was there before
};

/// Changes the config as the flags ask, overrides left out. Prices that it does not have yet begin
/// at `now`.
Expected<std::vector<SettingChange>, LocalError> apply_flags(const LocalRequest& request,
                                                             Instant now, ClusterConfig& config);

/// "market.csv at speed 60": which file prices move by, and how fast; empty: they do not.
std::string moving_prices(const CloudConfig& cloud);

/// How often a policy that decides in batches has rounds, for which a job waits, and how it would
/// not wait long; empty: the policy decides when a job comes. Periods are by themselves those of
/// the papers, for clusters of many jobs.
std::string batch_rounds(const ClusterConfig& config, const Catalog& catalog);

/// The overrides by which the configs differ.
std::vector<SettingChange> changes_by(const std::vector<std::string>& overrides,
                                      ClusterConfig before, ClusterConfig after);

/// "it runs with policy eva: ...", for whoever asks a cluster that runs for these changes.
std::string refusal_while_it_runs(const std::vector<SettingChange>& changes);

/// Faults that the nodes, or the cloud, would find only after they have been started: in the
/// catalog, also by types that the masters' stores name, the policy, the prices and the fixed
/// fleet. Names the flag, or the config's file, and what would be right; empty: nothing.
std::string settings_fault(const ClusterConfig& config, const LocalRequest& request);
/// The fault of settings of backups that are new: their folder cannot be used here. One that cannot
/// be used any more keeps no cluster from starting.
std::string backup_fault(const ClusterConfig& config, const LocalRequest& request);

}  // namespace muster::local
