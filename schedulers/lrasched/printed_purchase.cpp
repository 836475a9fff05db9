#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "schedulers/lrasched/new_nodes.hpp"

namespace muster::lrasched {
namespace {

/// Phase 2 as printed, node by node.
class PrintedBuyer {
 public:
  struct Parts {
    NodeRooms& rooms;
    std::span<const Service> services;
    const Demand& demand;
    const PurchaseRules& rules;
    PeriodPlacement& placement;
  };
  explicit PrintedBuyer(const Parts& parts)
      : p_(parts),
        services_(parts.services.begin(), parts.services.end()),
        old_spots_(parts.placement.spots),
        given_up_(parts.services.size(), 0) {}

  Purchases run() {
    for (const std::uint32_t service : placing_order(p_.services, p_.demand, kPaperRules)) {
      while (p_.placement.whole[service] == 0 && given_up_[service] == 0) add_node_for(service);
    }
    for (std::uint32_t i = 0; i < services_.size(); ++i) {
      if (p_.placement.whole[i] == 0) take_back(i);
    }
    give_back_empty(p_.rooms, p_.rules, p_.placement, purchases_);
    return std::move(purchases_);
  }

 private:
  /// Of offers that hold a replica and that what is left pays for, the cheapest for a replica.
  std::optional<std::uint32_t> offer_for(const Service& service) const {
    std::optional<std::uint32_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t i = 0; i < p_.rules.offers.size(); ++i) {
      const NodeOffer& offer = p_.rules.offers[i];
      if (!service.may_be_on(offer.kind) || paid_ + offer.price > p_.rules.most_price) continue;
      const auto bought = std::count(purchases_.offers.begin(), purchases_.offers.end(), i);
      if (bought >= offer.most) continue;
      const std::uint32_t together =
          how_many_fit(service.size, offer.capacity, std::max(service.most_a_node, 1U));
      if (together == 0 || offer.price / together >= least) continue;
      least = offer.price / together;
      best = i;
    }
    return best;
  }

  void add_node_for(std::uint32_t service) {
    const std::optional<std::uint32_t> number = offer_for(p_.services[service]);
    if (!number || purchases_.offers.size() >= p_.rules.most_nodes) {
      given_up_[service] = 1;
      purchases_.refused.push_back({service, RefusalCause::nodes, 0});
      return;
    }
    const NodeOffer& offer = p_.rules.offers[*number];
    fill_new_nodes(p_.rooms, services_, p_.demand, {std::span(&offer.capacity, 1), offer.kind},
                   p_.placement);
    purchases_.offers.push_back(*number);
    paid_ += offer.price;
    for (std::size_t i = 0; i < services_.size(); ++i) {
      services_[i].replicas =
          p_.services[i].replicas - replicas_in(p_.placement.spots[i]) + replicas_in(old_spots_[i]);
    }
  }

  void take_back(std::uint32_t service) {
    for (const Spot& spot : p_.placement.spots[service]) {
      const std::uint32_t came = spot.count - count_at(old_spots_[service], spot.node);
      p_.rooms.take(spot.node, p_.services[service].size, -static_cast<std::int64_t>(came));
    }
    p_.placement.spots[service] = old_spots_[service];
  }

  Parts p_;
  std::vector<Service> services_;  ///< with what is left to place of each
  std::vector<Spots> old_spots_;
  std::vector<char> given_up_;
  double paid_ = 0;
  Purchases purchases_;
};

}  // namespace

Purchases buy_as_printed(NodeRooms& rooms, std::span<const Service> services, const Demand& demand,
                         const PurchaseRules& rules, PeriodPlacement& placement) {
  return PrintedBuyer({rooms, services, demand, rules, placement}).run();
}

}  // namespace muster::lrasched
