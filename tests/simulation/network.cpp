#include "tests/simulation/network.hpp"

#include <algorithm>
#include <caf/detail/sync_request_bouncer.hpp>

namespace muster::ring {
namespace {

/// From the end of a wire to the moment at which an end notices that was not told.
constexpr double kNotice_s = 15;

bool is_hello(const caf::message& content) {
  return content.match_elements<hello_atom, WorkerHello, WorkerActor>();
}

}  // namespace

void FarActor::enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) {
  if (element->mid.is_response()) return answer(std::move(element));
  Network::Wire& wire = network_.wire(from_, to_);
  const bool mine = connection_ == 0 || connection_ == wire.connection;
  if (!mine || !network_.ready(from_, to_)) {
    if (mine && !wire.knows[from_ > to_]) return;
    caf::detail::sync_request_bouncer bounce(caf::sec::no_route_to_receiving_node);
    return bounce(*element);
  }
  const caf::strong_actor_ptr sender = element->sender;
  caf::message_id mid = element->mid;
  caf::message content = element->move_content_to_message();
  if (!network_.passes(wire, from_, to_, content)) return;
  if (wire.losses[from_ > to_] > 0) return void(--wire.losses[from_ > to_]);
  caf::strong_actor_ptr back = nullptr;
  if (mid.is_request()) {
    const std::uint64_t flags = mid.integer_value() & ~caf::message_id::request_id_mask;
    asked_[++last_] = {sender, mid};
    mid = caf::make_message_id(flags | last_);
    back = ctrl();
  } else if (sender) {
    back = ctrl();
  }
  if (network_.watcher_) network_.watcher_(from_, to_, content);
  content = network_.translate(from_, to_, std::move(content));
  int copies = 1;
  // Nobody repeats the word of an end.
  const bool repeatable = !mid.is_request() && !content.match_elements<over_atom, JobEnd>();
  if (repeatable && wire.repeats > 0) copies = 2, --wire.repeats;
  for (int i = 0; i < copies; ++i) {
    network_.carry(from_, to_, [&network = network_, to = to_, back, mid, content] {
      network.deliver(to, back, mid, content);
    });
  }
}

/// The answer goes back over the wire to who asked here.
void FarActor::answer(caf::mailbox_element_ptr element) {
  const auto asked = asked_.find(element->mid.request_id().integer_value());
  if (asked == asked_.end()) return;
  const auto [asker, mid] = asked->second;
  asked_.erase(asked);
  if (!network_.ready(from_, to_)) return;
  const caf::message content = element->move_content_to_message();
  if (network_.watcher_) network_.watcher_(to_, from_, content);
  network_.carry(to_, from_, [asker = asker, mid = mid, content] {
    if (!asker) return;
    asker->enqueue(caf::make_mailbox_element(nullptr, mid.response_id(), {}, content), nullptr);
  });
}

Network::~Network() {
  for (const auto& [ends, handle] : far_) {
    static_cast<FarActor*>(caf::actor_cast<caf::abstract_actor*>(handle))->forget_questions();
  }
  for (const caf::strong_actor_ptr& handle : proxies_) {
    static_cast<FarActor*>(caf::actor_cast<caf::abstract_actor*>(handle))->forget_questions();
  }
}

NodeIndex Network::add_node() {
  const auto node = static_cast<NodeIndex>(actors_.size());
  actors_.emplace_back();
  homes_.push_back(node);
  return node;
}

NodeIndex Network::add_worker(NodeIndex home) {
  const NodeIndex node = add_node();
  homes_[node] = home;
  return node;
}

void Network::bring_up(NodeIndex node, caf::strong_actor_ptr actor) {
  actors_[node] = std::move(actor);
  if (is_worker(node)) return connect_later(node, homes_[node], 2);
  for (NodeIndex other = 0; other < actors_.size(); ++other) {
    if (other == node) continue;
    const bool pair = is_worker(other) ? homes_[other] == node : true;
    if (pair && runs(other)) connect_later(node, other, is_worker(other) ? 10 : 2);
  }
}

void Network::take_down(NodeIndex node) {
  actors_[node] = nullptr;
  for (auto& [ends, wire] : wires_) {
    if (ends.first != node && ends.second != node) continue;
    const bool told = rng_.uniform() < 0.8;
    disconnect(ends.first, ends.second, told, told);
  }
}

caf::strong_actor_ptr Network::far(NodeIndex from, NodeIndex to) {
  caf::strong_actor_ptr& handle = far_[{from, to}];
  if (!handle) {
    handle = caf::strong_actor_ptr(make_far(from, to)->ctrl());
    proxies_.pop_back();
  }
  return handle;
}

FarActor* Network::make_far(NodeIndex from, NodeIndex to) {
  caf::actor_system& system = timeline_.system();
  caf::actor_config config;
  proxies_.push_back(caf::make_actor<FarActor, caf::strong_actor_ptr>(
      system.next_actor_id(), system.node(), &system, config, *this, from, to));
  return static_cast<FarActor*>(caf::actor_cast<caf::abstract_actor*>(proxies_.back()));
}

void Network::cut(NodeIndex a, NodeIndex b, bool a_knows, bool b_knows) {
  wire(a, b).cut = true;
  disconnect(a, b, a_knows, b_knows);
}

void Network::mend(NodeIndex a, NodeIndex b) {
  if (!std::exchange(wire(a, b).cut, false)) return;
  connect_later(a, b, 5);
}

void Network::connect_later(NodeIndex a, NodeIndex b, double within_s) {
  const std::uint64_t connection = wire(a, b).connection;
  timeline_.after(from_seconds(rng_.uniform(0.01, within_s)), [this, a, b, connection] {
    if (wire(a, b).connection == connection) connect(a, b);
  });
}

void Network::connect(NodeIndex a, NodeIndex b) {
  Wire& between = wire(a, b);
  if (between.cut || between.connected || !runs(a) || !runs(b)) return;
  between.connected = true;
  between.knows[0] = between.knows[1] = true;
  if (is_worker(a)) return greet(a);
  if (is_worker(b)) return greet(b);
  if (meeting_) meeting_(a, b);
}

void Network::greet(NodeIndex node) {
  deliver(node, nullptr, caf::make_message_id(), caf::make_message(greet_atom_v));
}

void Network::disconnect(NodeIndex a, NodeIndex b, bool a_knows, bool b_knows) {
  Wire& between = wire(a, b);
  ++between.connection;
  if (!std::exchange(between.connected, false)) return;
  between.knows[a > b] = a_knows;
  between.knows[b > a] = b_knows;
  const bool a_is_master = is_worker(b);
  if (between.proxy != nullptr)
    tell(std::exchange(between.proxy, nullptr), a_is_master ? a_knows : b_knows);
  for (FarActor*& listener : between.listeners) {
    const bool of_a = &listener == &between.listeners[a > b];
    if (listener != nullptr) tell(std::exchange(listener, nullptr), of_a ? a_knows : b_knows);
  }
  if (a_knows && b_knows) return;
  timeline_.after(from_seconds(kNotice_s), [this, a, b, connection = between.connection] {
    Wire& later = wire(a, b);
    if (later.connection == connection && !later.connected) later.knows[0] = later.knows[1] = true;
  });
}

void Network::tell(FarActor* proxy, bool at_once) {
  if (at_once) return proxy->go_down();
  timeline_.after(from_seconds(kNotice_s), [proxy] { proxy->go_down(); });
}

bool Network::ready(NodeIndex from, NodeIndex to) {
  return wire(from, to).connected && runs(from) && runs(to);
}

/// A worker's link carries nothing before the worker's hello.
bool Network::passes(const Wire& wire, NodeIndex from, NodeIndex to,
                     const caf::message& content) const {
  if (!is_worker(from) && !is_worker(to)) return true;
  return wire.proxy != nullptr || is_hello(content);
}

/// Who watches on `to`, as `from` tells it of ends.
JobListener Network::listener(NodeIndex from, NodeIndex to) {
  Wire& between = wire(from, to);
  FarActor*& proxy = between.listeners[from > to];
  if (proxy == nullptr) {
    proxy = make_far(from, to);
    proxy->bind(between.connection);
  }
  return caf::actor_cast<JobListener>(caf::strong_actor_ptr(proxy->ctrl()));
}

/// Handles that are sent along become those by which the other node reaches their actor.
caf::message Network::translate(NodeIndex from, NodeIndex to, caf::message content) {
  if (is_hello(content)) {
    Wire& between = wire(from, to);
    if (between.proxy == nullptr) {
      between.proxy = make_far(to, from);
      between.proxy->bind(between.connection);
    }
    return caf::make_message(
        hello_atom_v, content.get_as<WorkerHello>(1),
        caf::actor_cast<WorkerActor>(caf::strong_actor_ptr(between.proxy->ctrl())));
  }
  if (content.match_elements<launch_atom, LaunchOrder, MasterForCloud>()) {
    return caf::make_message(launch_atom_v, content.get_as<LaunchOrder>(1),
                             peer<MasterForCloud>(to, from));
  }
  if (content.match_elements<watch_atom, JobListener, std::vector<JobId>>()) {
    return caf::make_message(watch_atom_v, listener(to, from),
                             content.get_as<std::vector<JobId>>(2));
  }
  if (content.match_elements<unwatch_atom, JobListener, std::vector<JobId>>()) {
    return caf::make_message(unwatch_atom_v, listener(to, from),
                             content.get_as<std::vector<JobId>>(2));
  }
  if (content.match_elements<greet_atom, MasterForCloud>()) {
    return caf::make_message(greet_atom_v, peer<MasterForCloud>(to, from));
  }
  if (content.match_elements<end_atom, InstanceId, MasterForCloud>()) {
    return caf::make_message(end_atom_v, content.get_as<InstanceId>(1),
                             peer<MasterForCloud>(to, from));
  }
  return content;
}

void Network::carry(NodeIndex from, NodeIndex to, std::function<void()> deliver) {
  Wire& between = wire(from, to);
  Instant& last = between.last[from > to];
  const Duration latency = from_seconds(rng_.uniform(0.0001, 0.02)) + between.extra;
  last = std::max(last, timeline_.now() + latency);
  timeline_.at(last,
               [this, from, to, connection = between.connection, deliver = std::move(deliver)] {
                 if (wire(from, to).connection == connection) deliver();
               });
}

void Network::deliver(NodeIndex to, const caf::strong_actor_ptr& sender, caf::message_id mid,
                      const caf::message& content) {
  if (!actors_[to]) return;
  actors_[to]->enqueue(caf::make_mailbox_element(sender, mid, {}, content), nullptr);
}

}  // namespace muster::ring
