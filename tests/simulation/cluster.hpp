#pragma once

#include <caf/all.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/cloud/connector.hpp"
#include "actors/cloud/loopback_provider.hpp"
#include "serve/group/group.hpp"
#include "tests/simulation/disks.hpp"
#include "tests/simulation/machines.hpp"
#include "tests/simulation/network.hpp"
#include "tests/simulation/own_park.hpp"
#include "tests/simulation/scenario.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster::ring {

/// What a node of the control plane is, whether it runs or not.
enum class NodeKind : std::uint8_t { site, master, cloud };

/// The cluster of a scenario: every actor on a node of its own, with a disk and a clock of its own.
/// The nodes are composed as the live root composes them (serve/node/node_roles.cpp).
class Cluster {
 public:
  using Complain = MachinePark::Complain;

  Cluster(const Scenario& scenario, Complain complain);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  void start(NodeKind kind, std::uint32_t index);
  /// The process ends between two messages; nothing that it has not written down is left.
  void kill(NodeKind kind, std::uint32_t index);
  bool runs(NodeKind kind, std::uint32_t index) const;
  void step_clock(NodeKind kind, std::uint32_t index, Duration by);
  /// The latest that the node's clock ever showed.
  Instant latest_clock(NodeKind kind, std::uint32_t index) const;
  Disk& disk_of(NodeKind kind, std::uint32_t index);
  NodeIndex node_of(NodeKind kind, std::uint32_t index) const;

  /// A place from which users speak to all nodes.
  NodeIndex users() const { return users_; }
  SiteForSubmitters site_for_users(std::uint32_t i) {
    return network_.peer<SiteForSubmitters>(users_, sites_[i].node);
  }
  MasterForUsers master_for_users(std::uint32_t i) {
    return network_.peer<MasterForUsers>(users_, masters_[i].node);
  }
  SiteForUsers site_for_holds(std::uint32_t i) {
    return network_.peer<SiteForUsers>(users_, sites_[i].node);
  }
  /// Is told of a site that users can reach again.
  void on_site_reached(std::function<void(std::uint32_t)> told) { reached_ = std::move(told); }
  CloudForUsers cloud_for_users() { return network_.peer<CloudForUsers>(users_, cloud_.node); }

  /// Lets the next thing happen: one message, or the next that is due. False: nothing will any
  /// more.
  bool step();
  std::uint64_t messages() const { return messages_; }
  Instant now() const { return timeline_.now(); }

  const Scenario& scenario() const { return scenario_; }
  Timeline& timeline() { return timeline_; }
  Network& network() { return network_; }
  MachinePark& machines() { return machines_; }
  MasterDisk& master_disk(std::uint32_t i) { return *masters_[i].disk; }
  SiteDisk& site_disk(std::uint32_t i) { return *sites_[i].disk; }
  CloudDisk& cloud_disk() { return *cloud_.disk; }
  const CloudBill& bill() const { return bill_; }
  /// What the cloud's clock showed, or would have shown, at a time of the world.
  Instant cloud_clock(Instant truth) const;

 private:
  /// A node, whose process comes and goes.
  template <class Handle, class DiskOfRole, class Store>
  struct Role {
    NodeIndex node = 0;
    Duration offset{};  ///< of its clock before the true time
    Instant latest;     ///< that its clock showed before it was set last
    std::unique_ptr<DiskOfRole> disk;
    std::unique_ptr<Store> store;
    Handle actor;
  };

  void start_site(std::uint32_t i);
  void start_master(std::uint32_t i);
  void start_cloud();
  std::unique_ptr<CloudProvider> make_provider(LoopbackOptions options);
  WorkerActor start_worker(Machine& machine);
  void meet(NodeIndex a, NodeIndex b);
  ClockOrigin origin_of(Duration offset) const;
  Duration& offset_of(NodeKind kind, std::uint32_t index);
  Instant& latest_of(NodeKind kind, std::uint32_t index);
  template <class Node, class Stores>
  void end(Node& node, Stores& old_stores);

  const Scenario& scenario_;
  Rng rng_;
  muster::test::VirtualSystem system_;
  Timeline timeline_;
  Network network_;
  MachinePark machines_;
  std::vector<Role<SiteActor, SiteDisk, MemorySiteStore>> sites_;
  std::vector<Role<MasterActor, MasterDisk, MasterStore>> masters_;
  Role<CloudActor, CloudDisk, MemoryCloudStore> cloud_;
  NodeIndex users_ = 0;
  std::function<void(std::uint32_t)> reached_;
  CloudBill bill_;
  std::map<Instant, Duration> cloud_ahead_;  ///< of the true time, by the starts of the cloud
  DecisionTimes times_;
  /// Of processes that are gone: their actors may still be in memory.
  std::vector<std::unique_ptr<MasterStore>> old_master_stores_;
  std::vector<std::unique_ptr<MemorySiteStore>> old_site_stores_;
  std::vector<std::unique_ptr<MemoryCloudStore>> old_cloud_stores_;
  std::optional<OwnPark> own_;  ///< where there are machines of one's own
  std::vector<std::unique_ptr<CloudProvider>> providers_;  ///< one a life of the cloud
  std::uint64_t messages_ = 0;
};

}  // namespace muster::ring
