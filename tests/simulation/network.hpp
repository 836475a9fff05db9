#pragma once

#include <caf/all.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/rng.hpp"
#include "tests/simulation/timeline.hpp"

namespace muster::ring {

/// A process of the simulated cluster: one actor, and what stands behind it.
using NodeIndex = std::uint32_t;

class Network;

/// Stands on one node for the actor of another one, as a Peer or the proxy of a worker does live:
/// what it is sent goes over the wire between the two. Requests get their answers the same way.
class FarActor : public caf::monitorable_actor {
 public:
  FarActor(caf::actor_config& config, Network& network, NodeIndex from, NodeIndex to)
      : caf::monitorable_actor(config), network_(network), from_(from), to_(to) {}
  const char* name() const override { return "ring.far"; }

  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) override;

  /// Belongs to one connection only; zero: to all that there will be.
  void bind(std::uint64_t connection) { connection_ = connection; }
  /// Those who watch this end hear that it is gone.
  void go_down() {
    asked_.clear();
    cleanup(caf::make_error(caf::exit_reason::remote_link_unreachable), nullptr);
  }
  void forget_questions() { asked_.clear(); }

 private:
  void answer(caf::mailbox_element_ptr element);

  Network& network_;
  NodeIndex from_, to_;
  std::uint64_t connection_ = 0;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::pair<caf::strong_actor_ptr, caf::message_id>> asked_;
};

/// The wires between nodes. Each keeps the order of what is sent over it for as long as it is
/// connected; when it is not, nothing passes, and what was on its way is lost.
class Network {
 public:
  /// Something is put on a wire: from, to, what.
  using Watcher = std::function<void(NodeIndex, NodeIndex, const caf::message&)>;
  using Meeting = std::function<void(NodeIndex, NodeIndex)>;

  Network(Timeline& timeline, std::uint64_t seed) : timeline_(timeline), rng_(seed) {}
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// A worker speaks to its master by a link of its own kind: it says hello after each connection,
  /// and is somebody new to the master then. `home` is the master's node.
  NodeIndex add_node();
  NodeIndex add_worker(NodeIndex home);

  /// The node runs from now on, with this actor; its wires meet again after a while.
  void bring_up(NodeIndex node, caf::strong_actor_ptr actor);
  /// The node is gone with all that was on its wires.
  void take_down(NodeIndex node);
  bool runs(NodeIndex node) const { return actors_[node] != nullptr; }

  /// The actor of `to` as `from` speaks to it, whatever becomes of either.
  caf::strong_actor_ptr far(NodeIndex from, NodeIndex to);
  template <class Handle>
  Handle peer(NodeIndex from, NodeIndex to) {
    return caf::actor_cast<Handle>(far(from, to));
  }

  /// Nothing passes between the two until mend(). An end that knows refuses requests at once.
  void cut(NodeIndex a, NodeIndex b, bool a_knows, bool b_knows);
  void mend(NodeIndex a, NodeIndex b);
  /// What is sent from now on takes so much longer.
  void slow(NodeIndex a, NodeIndex b, Duration extra) { wire(a, b).extra = extra; }
  /// The next so many messages that are no requests come twice in a row.
  void repeat(NodeIndex a, NodeIndex b, std::uint32_t count) { wire(a, b).repeats = count; }

  /// The next so many messages that go this way are lost, although the two are connected.
  void lose(NodeIndex from, NodeIndex to, std::uint32_t count) {
    wire(from, to).losses[from > to] = count;
  }

  void watch(Watcher watcher) { watcher_ = std::move(watcher); }
  /// Is told of two nodes, neither of them a worker, whenever they are connected.
  void on_meeting(Meeting meeting) { meeting_ = std::move(meeting); }
  void greet(NodeIndex node);
  Timeline& timeline() { return timeline_; }

 private:
  friend class FarActor;
  struct Wire {
    bool cut = false;
    bool connected = false;
    std::uint64_t connection = 1;  ///< number of the present one
    Instant last[2]{};             ///< the latest arrival, by direction
    bool knows[2] = {true, true};  ///< the end of that direction's sender knows of its state
    Duration extra{};
    std::uint32_t repeats = 0;
    std::uint32_t losses[2] = {0, 0};
    FarActor* proxy = nullptr;  ///< of the worker at its master, on the present connection
    /// Who watches jobs at the other end, by the direction in which ends are told; on the present
    /// connection.
    FarActor* listeners[2] = {nullptr, nullptr};
  };
  using Ends = std::pair<NodeIndex, NodeIndex>;

  static Ends ends(NodeIndex a, NodeIndex b) { return {std::min(a, b), std::max(a, b)}; }
  Wire& wire(NodeIndex a, NodeIndex b) { return wires_[ends(a, b)]; }
  bool is_worker(NodeIndex node) const { return homes_[node] != node; }
  FarActor* make_far(NodeIndex from, NodeIndex to);
  void connect_later(NodeIndex a, NodeIndex b, double within_s);
  void connect(NodeIndex a, NodeIndex b);
  void disconnect(NodeIndex a, NodeIndex b, bool a_knows, bool b_knows);
  void tell(FarActor* proxy, bool at_once);
  bool ready(NodeIndex from, NodeIndex to);
  bool passes(const Wire& wire, NodeIndex from, NodeIndex to, const caf::message& content) const;
  JobListener listener(NodeIndex from, NodeIndex to);
  caf::message translate(NodeIndex from, NodeIndex to, caf::message content);
  void carry(NodeIndex from, NodeIndex to, std::function<void()> deliver);
  void deliver(NodeIndex to, const caf::strong_actor_ptr& sender, caf::message_id mid,
               const caf::message& content);

  Timeline& timeline_;
  Rng rng_;
  std::vector<caf::strong_actor_ptr> actors_;  ///< null: the node is down
  std::vector<NodeIndex> homes_;               ///< a worker's master; of others: themselves
  std::map<Ends, Wire> wires_;
  std::map<Ends, caf::strong_actor_ptr> far_;  ///< by from and to
  std::vector<caf::strong_actor_ptr> proxies_;
  Watcher watcher_;
  Meeting meeting_;
};

}  // namespace muster::ring
