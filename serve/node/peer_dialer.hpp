#pragma once

#include <caf/all.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "actors/messages/interfaces.hpp"
#include "actors/messages/peer_proxy.hpp"
#include "config/cluster_config.hpp"
#include "serve/node/live_node.hpp"

namespace muster {

/// The roles of another node as this one speaks to them.
struct PeerRoles {
  explicit PeerRoles(caf::actor_system& system) : site(system), master(system), cloud(system) {}
  Peer<SiteActor> site;
  Peer<MasterActor> master;
  Peer<CloudActor> cloud;
  std::function<void()> cloud_back;  ///< told whenever the cloud can be reached again; may be empty

  void set(const NodeRoles& roles) const;
  void clear() const;
  bool connected() const { return site.connected() || master.connected() || cloud.connected(); }
};

/// The other nodes of the cluster, by name. Fixed once the node has started.
using Peers = std::map<std::string, std::shared_ptr<PeerRoles>>;

/// Told what nodes find out when they meet.
struct MeetingNews {
  std::function<void(const std::string& text)> note;  ///< a line for the log
  /// The other node's numbers have to be taken; there will be no link before. May be told twice.
  std::function<void(const RosterOffer& offer)> take_roster;
};

/// The first actor that dialing nodes meet: each side learns the roles of the other.
class NodeHandshake : public NodeActor::base {
 public:
  NodeHandshake(caf::actor_config& config, NodeRoles own, Peers peers, MeetingNews news);
  const char* name() const override { return "muster.door"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  caf::result<NodeRoles> greet(const NodeRoles& visitor);

  NodeRoles own_;
  Peers peers_;
  MeetingNews news_;
  std::map<caf::actor_addr, std::string> visitors_;  ///< the node that is gone when the actor is
};

struct PeerDialerSetup {
  std::string node;  ///< name of the other one
  Endpoint address;
  caf::actor connector;  ///< the middleman actor, of TLS or plain
  LinkConfig link;
  NodeRoles own;
  std::shared_ptr<PeerRoles> roles;
  MeetingNews news;
};

/// Keeps the link to one other node: connects, learns its roles, and begins again when it is lost.
class PeerDialer : public caf::event_based_actor {
 public:
  PeerDialer(caf::actor_config& config, PeerDialerSetup setup);
  const char* name() const override { return "muster.dialer"; }
  void on_exit() override;

 protected:
  caf::behavior make_behavior() override;

 private:
  void dial();
  void met(std::uint64_t attempt, const NodeActor& handshake);
  void lose(std::uint64_t attempt, const std::string& why);

  PeerDialerSetup setup_;
  NodeActor handshake_;
  std::uint64_t attempt_ = 0;
  Duration pause_;  ///< before the next attempt
  std::string last_note_;
};

}  // namespace muster
