// Links between the nodes of a cluster. NodeHandshake answers a node that dials; PeerDialer dials,
// and dials again when the link is lost. Each compares the rosters before it uses an actor of the
// other node.

#include "serve/node/peer_dialer.hpp"

#include <algorithm>
#include <caf/io/all.hpp>
#include <utility>

namespace muster {
namespace {

/// Bounds the pause, which doubles from try to try, unless link.reconnect is longer.
constexpr Duration kLongestPause = std::chrono::seconds{3};

/// Some actor of the node: they all go when the link does.
caf::actor_addr any_of(const NodeRoles& roles) {
  if (roles.master) return roles.master.address();
  return roles.site ? roles.site.address() : roles.cloud.address();
}

/// Where their rosters differ; empty when they do not.
std::string where_they_differ(const NodeRoles& own, const NodeRoles& other) {
  return contradiction(own.roster, "node " + own.node, other.roster, "node " + other.node);
}

/// Which of two nodes with different rosters takes the other's numbers: one whose own mean nothing
/// yet. Where that is so of both it is the one whose name comes later, so that never both do.
bool yields(const NodeRoles& own, const NodeRoles& other) {
  return !own.numbered && (other.numbered || other.node < own.node);
}

}  // namespace

void PeerRoles::set(const NodeRoles& roles) const {
  if (roles.site) site.set(roles.site);
  if (roles.master) master.set(roles.master);
  if (!roles.cloud) return;
  cloud.set(roles.cloud);
  if (cloud_back) cloud_back();
}

void PeerRoles::clear() const {
  site.clear();
  master.clear();
  cloud.clear();
}

NodeHandshake::NodeHandshake(caf::actor_config& config, NodeRoles own, Peers peers,
                             MeetingNews news)
    : NodeActor::base(config),
      own_(std::move(own)),
      peers_(std::move(peers)),
      news_(std::move(news)) {
  set_down_handler([this](const caf::down_msg& down) {
    const auto visitor = visitors_.find(down.source);
    if (visitor == visitors_.end()) return;
    news_.note("the link with " + visitor->second + " was lost");
    peers_.at(visitor->second)->clear();
    visitors_.erase(visitor);
  });
}

void NodeHandshake::on_exit() {
  own_ = {};
  peers_.clear();
}

NodeActor::behavior_type NodeHandshake::make_behavior() {
  return {[this](roles_atom, const NodeRoles& visitor) { return greet(visitor); }};
}

caf::result<NodeRoles> NodeHandshake::greet(const NodeRoles& visitor) {
  const auto peer = peers_.find(visitor.node);
  if (peer == peers_.end()) return own_;
  // An id would mean one actor here and another one there.
  const std::string wrong = where_they_differ(own_, visitor);
  if (!wrong.empty()) {
    news_.note("turns " + visitor.node + " away: " + wrong);
    if (yields(own_, visitor)) news_.take_roster({visitor.node, visitor.roster, wrong});
    if (!yields(visitor, own_)) return caf::make_error(ActorError::other_roster, wrong);
    // A visitor that yields is told the roster to take, and no handles: its ids mean other actors
    // until it has started again.
    return NodeRoles{own_.node, own_.roster, {}, {}, {}, own_.numbered};
  }
  // Of an earlier link nothing is expected any more.
  std::erase_if(visitors_, [&](const auto& known) { return known.second == visitor.node; });
  peer->second->set(visitor);
  const caf::actor_addr address = any_of(visitor);
  if (address) {
    visitors_[address] = visitor.node;
    monitor(caf::actor_cast<caf::strong_actor_ptr>(address));
  }
  news_.note("linked with " + visitor.node);
  return own_;
}

PeerDialer::PeerDialer(caf::actor_config& config, PeerDialerSetup setup)
    : caf::event_based_actor(config), setup_(std::move(setup)), pause_(setup_.link.reconnect) {
  set_down_handler([this](const caf::down_msg& down) {
    if (handshake_ && down.source == handshake_.address()) lose(attempt_, "the link was lost");
  });
}

void PeerDialer::on_exit() {
  handshake_ = nullptr;
  setup_.connector = nullptr;
  setup_.own = {};
}

caf::behavior PeerDialer::make_behavior() {
  dial();
  return {[this](caf::connect_atom, std::uint64_t attempt) {
    if (attempt == attempt_) dial();
  }};
}

void PeerDialer::dial() {
  const std::uint64_t attempt = attempt_;
  request(setup_.connector, setup_.link.request_timeout, caf::connect_atom_v, setup_.address.host,
          setup_.address.port)
      .then(
          [this, attempt](const caf::node_id&, caf::strong_actor_ptr& handshake,
                          const std::set<std::string>& interface) {
            if (!handshake ||
                !system().assignable(interface, system().message_types<NodeActor>())) {
              return lose(attempt, "the peer is not a Muster node of this version");
            }
            met(attempt, caf::actor_cast<NodeActor>(handshake));
          },
          [this, attempt](const caf::error& error) { lose(attempt, system().render(error)); });
}

void PeerDialer::met(std::uint64_t attempt, const NodeActor& handshake) {
  if (attempt != attempt_) return;
  handshake_ = handshake;
  monitor(handshake_);
  request(handshake_, setup_.link.request_timeout, roles_atom_v, setup_.own)
      .then(
          [this, attempt](const NodeRoles& roles) {
            if (attempt != attempt_) return;
            if (roles.node != setup_.node) {
              return lose(attempt, "it calls itself " + roles.node);
            }
            const std::string wrong = where_they_differ(setup_.own, roles);
            if (!wrong.empty()) {
              if (yields(setup_.own, roles)) {
                setup_.news.take_roster({roles.node, roles.roster, wrong});
              }
              return lose(attempt, wrong);
            }
            setup_.roles->set(roles);
            last_note_.clear();
            pause_ = setup_.link.reconnect;
            setup_.news.note("linked with " + setup_.node);
          },
          [this, attempt](const caf::error& error) { lose(attempt, system().render(error)); });
}

/// An attempt fails once: its later messages, when there may be a good link, count for nothing. The
/// pauses grow, so that many nodes that start at once do not keep each other busy.
void PeerDialer::lose(std::uint64_t attempt, const std::string& why) {
  if (attempt != attempt_) return;
  if (handshake_) demonitor(handshake_.address());
  handshake_ = nullptr;
  setup_.roles->clear();
  // A node that is away for hours is noted once, not at every try.
  if (why != last_note_) setup_.news.note("no link with " + setup_.node + ": " + why);
  last_note_ = why;
  delayed_send(this, pause_, caf::connect_atom_v, ++attempt_);
  pause_ = std::min(pause_ * 2, std::max(setup_.link.reconnect, kLongestPause));
}

}  // namespace muster
