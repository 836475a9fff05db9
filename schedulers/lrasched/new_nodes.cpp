#include "schedulers/lrasched/new_nodes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace muster::lrasched {
namespace {

/// A node while it is filled.
class NodeFilling {
 public:
  NodeFilling(NodeRooms& rooms, std::uint32_t node, const Fitness::Scale& scale)
      : rooms_(rooms), node_(node), scale_(scale) {}

  /// Places the replica of the highest fitness among those left; false: no replica fits.
  bool place_best(std::span<const Service> services, std::vector<std::uint32_t>& left,
                  PeriodPlacement& placement) {
    const Amounts room = rooms_.free(node_);
    std::size_t best = services.size();
    double most = Fitness::kNoRoom;
    for (std::size_t i = 0; i < services.size(); ++i) {
      if (left[i] == 0 || !services[i].may_be_on(rooms_.kind(node_))) continue;
      if (count_at(placement.spots[i], node_) >= services[i].most_a_node) continue;
      const double value = Fitness(Fit::dot, services[i].size, scale_).of(room);
      if (value <= most) continue;
      most = value;
      best = i;
    }
    if (best == services.size()) return false;
    rooms_.take(node_, services[best].size);
    put_at(placement.spots[best], node_);
    if (--left[best] == 0) placement.whole[best] = 1;
    return true;
  }

 private:
  NodeRooms& rooms_;
  std::uint32_t node_;
  Fitness::Scale scale_;
};

}  // namespace

std::uint32_t fill_new_nodes(NodeRooms& rooms, std::span<const Service> services,
                             const Demand& demand, const NewNodes& new_nodes,
                             PeriodPlacement& placement) {
  std::vector<std::uint32_t> left(services.size(), 0);
  for (std::size_t i = 0; i < services.size(); ++i) {
    if (placement.whole[i] == 0) left[i] = services[i].replicas;
  }
  std::uint32_t added = 0;
  const auto none_left = [&] {
    return std::all_of(left.begin(), left.end(), [](std::uint32_t count) { return count == 0; });
  };
  while (added < new_nodes.capacities.size() && !none_left()) {
    const std::uint32_t node = rooms.add(new_nodes.capacities[added], new_nodes.kind);
    NodeFilling filling(rooms, node, scale_of(demand, rooms));
    while (filling.place_best(services, left, placement)) {
    }
    ++added;
  }
  return added;
}

void give_back_empty(NodeRooms& rooms, const PurchaseRules& rules, PeriodPlacement& placement,
                     Purchases& purchases) {
  const auto first = static_cast<std::uint32_t>(rooms.count() - purchases.offers.size());
  std::vector<char> used(rooms.count(), 0);
  for (const Spots& spots : placement.spots) {
    for (const Spot& spot : spots) used[spot.node] = 1;
  }
  std::vector<std::uint32_t> number(rooms.count(), 0);
  std::iota(number.begin(), number.end(), 0U);
  std::vector<Amounts> kept;
  std::vector<std::uint32_t> offers;
  for (std::uint32_t node = first; node < rooms.count(); ++node) {
    if (used[node] == 0) continue;
    number[node] = first + static_cast<std::uint32_t>(kept.size());
    kept.push_back(rooms.free(node));
    offers.push_back(purchases.offers[node - first]);
  }
  while (rooms.count() > first) rooms.remove_last();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    rooms.add(kept[i], rules.offers[offers[i]].kind, rules.offers[offers[i]].zone);
  }
  for (Spots& spots : placement.spots) {
    for (Spot& spot : spots) spot.node = number[spot.node];
  }
  purchases.offers = std::move(offers);
}

}  // namespace muster::lrasched
