#include <algorithm>
#include <limits>
#include <utility>

#include "model/check.hpp"
#include "schedulers/lrasched/new_nodes.hpp"
#include "schedulers/lrasched/service_placer.hpp"

namespace muster::lrasched {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Replicas that a new node would hold, and their worth.
struct Load {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> replicas;  ///< service, how many
  double worth = 0;
};

double worth_of(const Service& service, std::span<const NodeOffer> offers) {
  double least = kNever;
  for (const NodeOffer& offer : offers) {
    if (!service.may_be_on(offer.kind)) continue;
    const std::uint32_t together =
        how_many_fit(service.size, offer.capacity, std::max(service.most_a_node, 1U));
    if (together > 0) least = std::min(least, offer.price / together);
  }
  return least;
}

/// The dimension that the offer which comes nearest to holding a replica lacks most of.
std::size_t lacking_dim(const Service& service, std::span<const NodeOffer> offers) {
  double nearest = kNever;
  std::size_t binding = 0;
  for (const NodeOffer& offer : offers) {
    if (!service.may_be_on(offer.kind)) continue;
    double ratio = 0;
    std::size_t dim = 0;
    for (std::size_t k = 0; k < kMostDims; ++k) {
      if (service.size[k] <= 0) continue;
      const double of_k = offer.capacity[k] > 0 ? service.size[k] / offer.capacity[k] : 1e300;
      if (of_k > ratio) {
        ratio = of_k;
        dim = k;
      }
    }
    if (ratio < nearest) {
      nearest = ratio;
      binding = dim;
    }
  }
  return binding;
}

/// Phase 2 at work.
class Buyer {
 public:
  struct Parts {
    NodeRooms& rooms;
    std::span<const Service> services;
    const Demand& demand;
    const PurchaseRules& rules;
    PeriodPlacement& placement;
  };
  explicit Buyer(const Parts& parts)
      : p_(parts),
        placer_(parts.rooms),
        order_(placing_order(parts.services, parts.demand, {})),
        left_(parts.services.size(), 0),
        bought_(parts.rules.offers.size(), 0) {}

  Purchases run() {
    const NodeRooms old_rooms = p_.rooms;
    const std::vector<Spots> old_spots = p_.placement.spots;
    find_worth();
    use_old_room();
    share_zones();
    while (buy_best()) {
    }
    if (is_any_left()) {
      place_whole(old_rooms, old_spots);
      give_back_empty(p_.rooms, p_.rules, p_.placement, purchases_);
    }
    return std::move(purchases_);
  }

 private:
  void find_worth() {
    for (std::uint32_t i = 0; i < p_.services.size(); ++i) {
      worth_.push_back(worth_of(p_.services[i], p_.rules.offers));
      if (p_.placement.whole[i] != 0) continue;
      const Service& service = p_.services[i];
      if (worth_[i] == kNever) {
        purchases_.refused.push_back(
            {i, RefusalCause::dimension, lacking_dim(service, p_.rules.offers)});
      } else {
        left_[i] = service.replicas;
      }
    }
  }

  void use_old_room() {
    for (const std::uint32_t i : order_) {
      if (left_[i] == 0) continue;
      Service rest = p_.services[i];
      rest.replicas = left_[i];
      const Fitness fitness(Fit::balanced, rest.size, scale_of(p_.demand, p_.rooms));
      left_[i] -= placer_.place_some(rest, fitness, p_.placement.spots[i]);
      if (left_[i] == 0) p_.placement.whole[i] = 1;
    }
  }

  bool is_any_left() const {
    return std::any_of(left_.begin(), left_.end(), [](std::uint32_t count) { return count > 0; });
  }

  /// An even share of each service for each zone that offers are of, rounded up.
  void share_zones() {
    std::uint32_t zones = 1;
    for (const NodeOffer& offer : p_.rules.offers) zones = std::max(zones, offer.zone + 1);
    if (zones < 3) return;
    for (std::uint32_t i = 0; i < p_.services.size(); ++i) {
      ZoneShare& share = shares_.emplace_back();
      share.there.assign(zones, 0);
      for (const Spot& spot : p_.placement.spots[i]) {
        share.there[p_.rooms.zone(spot.node)] += spot.count;
      }
      std::vector<char> offered(zones, 0);
      for (const NodeOffer& offer : p_.rules.offers) {
        const bool may = p_.services[i].may_be_on(offer.kind);
        if (may && fits(p_.services[i].size, offer.capacity)) offered[offer.zone] = 1;
      }
      const auto count =
          static_cast<std::uint32_t>(std::count(offered.begin() + 1, offered.end(), 1));
      const std::uint32_t all = replicas_in(p_.placement.spots[i]) + left_[i];
      share.most = count > 0 ? (all + count - 1) / count : all;
    }
  }

  /// False: all are placed, or no node is to be had that holds any of the rest.
  bool buy_best() {
    if (!is_any_left() || purchases_.offers.size() >= p_.rules.most_nodes) return false;
    Choice best = cheapest(false);
    if (!shares_.empty()) {
      Choice even = cheapest(true);
      if (even.price <= (1 + p_.rules.spread) * best.price) best = std::move(even);
    }
    if (best.price == kNever) return false;
    buy(best.offer, best.load);
    return true;
  }

  /// A node to buy, and its price for the worth of its load.
  struct Choice {
    double price = kNever;
    std::uint32_t offer = 0;
    Load load{};
  };
  /// `spread`: no zone has more of a service than its share.
  Choice cheapest(bool spread) const {
    Choice best;
    for (std::uint32_t offer = 0; offer < p_.rules.offers.size(); ++offer) {
      const NodeOffer& of = p_.rules.offers[offer];
      if (bought_[offer] >= of.most || paid_ + of.price > p_.rules.most_price) continue;
      Load tried = fill(of, spread);
      const double price = tried.worth > 0 ? of.price / tried.worth : kNever;
      if (price < best.price) best = {price, offer, std::move(tried)};
    }
    return best;
  }

  /// The better of two ways to fill an empty node.
  Load fill(const NodeOffer& offer, bool spread) const {
    Load large = fill_by(Fit::dot, offer, spread);
    Load like = fill_by(Fit::balanced, offer, spread);
    return large.worth >= like.worth ? large : like;
  }

  /// Replicas of the service that a node of the offer may hold.
  std::uint32_t most_there(std::uint32_t service, const NodeOffer& offer, bool spread) const {
    const std::uint32_t most = std::min(p_.services[service].most_a_node, left_[service]);
    if (!spread || offer.zone == 0) return most;
    const ZoneShare& share = shares_[service];
    const std::uint32_t there = share.there[offer.zone];
    return std::min(most, share.most > there ? share.most - there : 0);
  }

  /// One replica of the highest fitness after the other, in shares of the capacity.
  Load fill_by(Fit fit, const NodeOffer& offer, bool spread) const {
    Load load;
    const Amounts& capacity = offer.capacity;
    Amounts room = capacity;
    std::vector<std::uint32_t> here(p_.services.size(), 0);
    std::vector<std::uint32_t> most_here;
    for (std::uint32_t i = 0; i < here.size(); ++i) {
      most_here.push_back(most_there(i, offer, spread));
    }
    const Fitness::Scale scale{capacity, capacity, capacity};
    while (true) {
      double most = Fitness::kNoRoom;
      std::uint32_t best = 0;
      for (std::uint32_t i = 0; i < p_.services.size(); ++i) {
        if (here[i] >= most_here[i]) continue;
        if (!p_.services[i].may_be_on(offer.kind)) continue;
        const double value = Fitness(fit, p_.services[i].size, scale).of(room);
        if (value <= most) continue;
        most = value;
        best = i;
      }
      if (most == Fitness::kNoRoom) break;
      for (std::size_t k = 0; k < kMostDims; ++k) room[k] -= p_.services[best].size[k];
      ++here[best];
      load.worth += worth_[best];
    }
    for (std::uint32_t i = 0; i < here.size(); ++i) {
      if (here[i] > 0) load.replicas.emplace_back(i, here[i]);
    }
    return load;
  }

  void buy(std::uint32_t offer, const Load& load) {
    const NodeOffer& of = p_.rules.offers[offer];
    const std::uint32_t node = p_.rooms.add(of.capacity, of.kind, of.zone);
    purchases_.offers.push_back(offer);
    paid_ += of.price;
    ++bought_[offer];
    for (const auto& [service, count] : load.replicas) {
      p_.rooms.take(node, p_.services[service].size, count);
      for (std::uint32_t i = 0; i < count; ++i) put_at(p_.placement.spots[service], node);
      left_[service] -= count;
      if (!shares_.empty()) shares_[service].there[of.zone] += count;
      if (left_[service] == 0) p_.placement.whole[service] = 1;
    }
  }

  /// The nodes do not hold all: whole services from the start, on old and new ones. Those that
  /// Phase 1 has placed stay where they are.
  void place_whole(const NodeRooms& old_rooms, const std::vector<Spots>& old_spots) {
    p_.rooms = old_rooms;
    for (const std::uint32_t offer : purchases_.offers) {
      const NodeOffer& of = p_.rules.offers[offer];
      p_.rooms.add(of.capacity, of.kind, of.zone);
    }
    for (const std::uint32_t i : order_) {
      if (replicas_in(p_.placement.spots[i]) == replicas_in(old_spots[i])) continue;
      p_.placement.spots[i] = old_spots[i];
      p_.placement.whole[i] = 0;
    }
    for (const std::uint32_t i : order_) {
      if (p_.placement.whole[i] != 0 || worth_[i] == kNever) continue;
      const Fitness fitness(Fit::balanced, p_.services[i].size, scale_of(p_.demand, p_.rooms));
      if (placer_.place(p_.services[i], fitness, p_.placement.spots[i])) {
        p_.placement.whole[i] = 1;
      } else {
        purchases_.refused.push_back({i, why_refused(i), 0});
      }
    }
  }

  RefusalCause why_refused(std::uint32_t service) const {
    const Service& of = p_.services[service];
    std::uint32_t without_limit = 0;
    for (std::uint32_t node = 0; node < p_.rooms.count() && without_limit < of.replicas; ++node) {
      if (!of.may_be_on(p_.rooms.kind(node))) continue;
      without_limit += how_many_fit(of.size, p_.rooms.free(node), of.replicas);
    }
    return without_limit >= of.replicas ? RefusalCause::limit : RefusalCause::nodes;
  }

  Parts p_;
  ServicePlacer placer_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> left_;    ///< replicas of each service without a node
  std::vector<double> worth_;          ///< of a replica of each service
  std::vector<std::uint32_t> bought_;  ///< nodes of each offer
  /// Replicas of a service that are in each zone, and of which a zone is to have no more.
  struct ZoneShare {
    std::vector<std::uint32_t> there{};
    std::uint32_t most = 0;
  };
  std::vector<ZoneShare> shares_;  ///< of each service; empty: zones are not told apart
  double paid_ = 0;
  Purchases purchases_;
};

}  // namespace

Purchases buy_nodes(NodeRooms& rooms, std::span<const Service> services, const Demand& demand,
                    const PurchaseRules& rules, PeriodPlacement& placement) {
  return Buyer({rooms, services, demand, rules, placement}).run();
}

}  // namespace muster::lrasched
