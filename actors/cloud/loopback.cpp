#include "actors/cloud/loopback.hpp"

#include <algorithm>
#include <utility>

namespace muster {

LoopbackCloud::LoopbackCloud(caf::actor_config& config, LoopbackSetup setup)
    : CloudActor::base(config), setup_(std::move(setup)), timer_(this, setup_.epoch) {}

void LoopbackCloud::on_exit() {
  rented_.clear();
}

CloudActor::behavior_type LoopbackCloud::make_behavior() {
  return {
      [this](launch_atom, const LaunchOrder& order, const MasterActor& master) {
        rent(order, master);
      },
      [this](end_atom, InstanceId id) { end(id); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

void LoopbackCloud::rent(const LaunchOrder& order, const MasterActor& master) {
  if (!known_.insert(order.instance).second) return;
  if (setup_.max_instances > 0 && rented_.size() >= setup_.max_instances) {
    ++setup_.bill->refused;
    send(master, CloudReport{order.instance, CloudReportKind::refused});
    return;
  }
  Rented& rented = rented_[order.instance];
  rented.type = order.type;
  rented.market = static_cast<Market>(order.market);
  rented.master = master;
  setup_.bill->rented = rented_.size();
  timer_.at(now() + (*setup_.catalog)[order.type].acquire,
            [this, id = order.instance] { come_up(id); });
}

void LoopbackCloud::come_up(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || found->second.ending) return;
  Rented& rented = found->second;
  rented.up = true;
  rented.up_at = now();
  ++setup_.bill->launched;
  send(rented.master, CloudReport{id, CloudReportKind::up});
  timer_.at(now() + (*setup_.catalog)[rented.type].setup, [this, id] { set_up(id); });
}

void LoopbackCloud::set_up(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || found->second.ending) return;
  found->second.worker = setup_.launch_worker(id, found->second.type, found->second.master);
}

void LoopbackCloud::end(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || found->second.ending) return;
  found->second.ending = true;
  const Duration delay =
      found->second.up ? (*setup_.catalog)[found->second.type].terminate : Duration::zero();
  timer_.at(now() + delay, [this, id] { gone(id); });
}

void LoopbackCloud::gone(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end()) return;
  const Rented rented = std::move(found->second);
  rented_.erase(found);
  setup_.bill->rented = rented_.size();
  if (rented.worker) anon_send_exit(rented.worker, caf::exit_reason::user_shutdown);
  if (rented.up) {
    const Price price = setup_.catalog->price(rented.type, rented.market);
    setup_.bill->total += Money::of(price, now() - rented.up_at);
  }
  send(rented.master, CloudReport{id, CloudReportKind::gone});
}

}  // namespace muster
