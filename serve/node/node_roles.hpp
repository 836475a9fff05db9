#pragma once

#include <caf/all.hpp>
#include <functional>
#include <memory>
#include <string>

#include "actors/cloud/connector.hpp"
#include "actors/cloud/providers.hpp"
#include "serve/api/audit_log.hpp"
#include "serve/group/group.hpp"
#include "serve/hosts/book_admin.hpp"
#include "serve/hosts/host_machines.hpp"
#include "serve/hosts/join_server.hpp"
#include "serve/machines/process_machines.hpp"
#include "serve/node/live_node.hpp"
#include "serve/node/node_stores.hpp"
#include "serve/notify/cap_watch.hpp"
#include "serve/notify/node_post.hpp"
#include "storage/events/figure_log.hpp"
#include "storage/events/log_store.hpp"
#include "storage/stores/rocks_cloud_store.hpp"
#include "storage/stores/rocks_site_store.hpp"
#include "storage/stores/store_history.hpp"
#include "storage/stores/store_journal.hpp"

// State of each role of a node beside its actor. Destroyed after the actor has ended.

namespace muster {

/// Parts that all roles of a node share.
struct RoleContext {
  caf::actor_system& system;
  const NodeSetup& setup;
  const Catalog& catalog;
  ClockOrigin origin;
  std::filesystem::path state;  ///< the node's folder
  const ClusterRoster& roster;
  std::function<void(const std::string&)> note;
  /// Trouble of the node that keeps its roles from no work; from any thread.
  std::function<std::string()> trouble;
  std::function<void(const std::string&)> warn{};
};

/// Stores and actors of a master's role.
struct MasterRole {
  std::unique_ptr<Store> store;
  std::unique_ptr<StoreJournal> journal;
  std::unique_ptr<StoreHistory> history;
  std::unique_ptr<LogStore> logs;
  std::unique_ptr<FigureLog> figures;
  DecisionTimes times;
  MasterActor actor;
};

/// Stores and actors of a site's role.
struct SiteRole {
  std::unique_ptr<Store> store;
  std::unique_ptr<RocksSiteStore> records;
  std::unique_ptr<notify::CapWatch> caps;  ///< null: another node tells of the cap
  std::unique_ptr<notify::NodePost> post;
  SiteActor actor;
};

/// Stores and actors of the cloud connector's role.
struct CloudRole {
  std::unique_ptr<Store> store;
  std::unique_ptr<RocksCloudStore> records;
  std::shared_ptr<hosts::HostBook> hosts;        ///< null: instances are of another provider
  std::shared_ptr<api::AuditLog> audit;          ///< of the node's API; null: it has no API
  std::unique_ptr<hosts::JoinServer> join;       ///< where machines join
  std::unique_ptr<process::SlowSteps> marks;     ///< by which they know the folder of checkpoints
  std::shared_ptr<const CatalogParts> catalogs;  ///< types of the provider's clouds
  std::unique_ptr<MachineBackend> machines;      ///< null: there are own_machines alone
  std::unique_ptr<MachineBackend> own_machines;  ///< null: no machine joins
  std::unique_ptr<CloudProvider> provider;
  CloudBill bill;
  CloudActor actor;
};

/// Reads the role's state in the store and starts its actor on it.
Expected<std::unique_ptr<MasterRole>, NodeError> start_master(const RoleContext& context,
                                                              std::unique_ptr<Store> store,
                                                              const CloudForMasters& cloud);
Expected<std::unique_ptr<SiteRole>, NodeError> start_site(const RoleContext& context,
                                                          std::unique_ptr<Store> store,
                                                          std::vector<MasterPlace> masters,
                                                          std::vector<SitePlace> sites);
Expected<std::unique_ptr<CloudRole>, NodeError> start_cloud(const RoleContext& context,
                                                            std::unique_ptr<Store> store);

}  // namespace muster
