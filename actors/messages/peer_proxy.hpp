#pragma once

#include <caf/all.hpp>
#include <caf/detail/sync_request_bouncer.hpp>
#include <mutex>
#include <utility>

namespace muster {

/// Stands for an actor that is elsewhere or not there yet, whatever becomes of the link to it:
/// passes everything on to the handle that it was given last. While there is no peer, requests fail
/// at once and everything else is dropped: a sender that needs more than that sends again.
class PeerProxy : public caf::monitorable_actor {
 public:
  explicit PeerProxy(caf::actor_config& config) : caf::monitorable_actor(config) {}
  const char* name() const override { return "muster.peer"; }

  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* host) override {
    // A copy, and not under the lock: enqueueing may run into this proxy again.
    if (const caf::strong_actor_ptr to = target()) {
      to->enqueue(std::move(element), host);
    } else {
      caf::detail::sync_request_bouncer bounce(caf::sec::no_route_to_receiving_node);
      bounce(*element);
    }
  }

  void set_target(caf::strong_actor_ptr target) {
    const std::scoped_lock lock(mutex_);
    target_ = std::move(target);
  }
  bool connected() const { return target() != nullptr; }

 private:
  caf::strong_actor_ptr target() const {
    const std::scoped_lock lock(mutex_);
    return target_;
  }

  mutable std::mutex mutex_;
  caf::strong_actor_ptr target_;
};

/// A proxy and the handle by which it is spoken to.
template <class Handle>
class Peer {
 public:
  Peer() = default;
  explicit Peer(caf::actor_system& system) {
    caf::actor_config config;
    const auto made = caf::make_actor<PeerProxy, caf::strong_actor_ptr>(
        system.next_actor_id(), system.node(), &system, config);
    proxy_ = static_cast<PeerProxy*>(caf::actor_cast<caf::abstract_actor*>(made));
    handle_ = caf::actor_cast<Handle>(made);
  }

  const Handle& handle() const { return handle_; }
  void set(const Handle& target) const {
    proxy_->set_target(caf::actor_cast<caf::strong_actor_ptr>(target));
  }
  void clear() const { proxy_->set_target(nullptr); }
  bool connected() const { return proxy_->connected(); }

 private:
  PeerProxy* proxy_ = nullptr;  ///< kept alive by the handle
  Handle handle_;
};

}  // namespace muster
