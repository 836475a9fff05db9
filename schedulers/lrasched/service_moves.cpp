#include "schedulers/lrasched/service_moves.hpp"

#include <algorithm>
#include <utility>

namespace muster::lrasched {
namespace {

constexpr double kLeastGain = 1e-9;

Amounts with(Amounts room, const Amounts& size, double count) {
  for (std::size_t k = 0; k < kMostDims; ++k) room[k] += count * size[k];
  return room;
}

}  // namespace

ServiceMoves::ServiceMoves(const Parts& parts, PeriodPlacement& placement,
                           std::span<const Spots> standing)
    : p_(parts),
      placement_(placement),
      placer_(parts.rooms),
      order_(placing_order(parts.services, parts.demand, parts.rules)),
      guests_(parts.rooms.count()),
      targets_(parts.services.size()) {
  const Amounts mean = parts.demand.mean();
  for (std::size_t k = 0; k < kMostDims; ++k) per_mean_[k] = mean[k] > 0 ? 1 / mean[k] : 0;
  const Fitness::Scale scale = scale_of(parts.demand, parts.rooms);
  for (std::uint32_t i = 0; i < parts.services.size(); ++i) {
    fitness_.emplace_back(Fit::balanced, parts.services[i].size, scale);
    for (const Spot& spot : placement.spots[i]) {
      const std::uint32_t stood = standing.empty() ? 0 : count_at(standing[i], spot.node);
      if (spot.count > stood) guests_[spot.node].push_back({i, spot.count - stood});
    }
  }
}

void ServiceMoves::run(const MoveRules& rules, Rng& rng) {
  bool all = try_rest(rules);
  for (std::uint32_t round = 0; !all && round < rules.rounds; ++round) {
    const std::uint64_t tries = std::uint64_t{rules.tries_a_node} * p_.rooms.count();
    for (std::uint64_t i = 0; i < tries; ++i) try_single_move(rng);
    all = try_rest(rules);
  }
}

/// Whether all services are placed now.
bool ServiceMoves::try_rest(const MoveRules& rules) {
  bool all = true;
  for (const std::uint32_t service : order_) {
    if (placement_.whole[service] != 0) continue;
    steps_.clear();
    if (place(service, rules)) {
      placement_.whole[service] = 1;
    } else {
      undo_to(0);
      all = false;
    }
  }
  return all;
}

bool ServiceMoves::place(std::uint32_t service, const MoveRules& rules) {
  const Service& of = p_.services[service];
  std::uint32_t placed = placer_.place_some(of, fitness_[service], placement_.spots[service]);
  for (const std::uint32_t node : placer_.taken()) {
    note_guest(service, node, 1);
    steps_.push_back({service, node, true});
  }
  for (; placed < of.replicas; ++placed) {
    const auto way = way_for(service, rules.looked_at);
    if (!way) return false;
    leave(way->service, way->node);
    come(way->service, way->target);
    come(service, way->node);
  }
  return true;
}

/// The best of the pairs of a node for the replica and a node for the guest that makes way.
std::optional<ServiceMoves::Way> ServiceMoves::way_for(std::uint32_t service,
                                                       std::uint32_t looked_at) {
  for (Targets& targets : targets_) targets.known = false;
  std::optional<Way> best;
  for (const std::uint32_t node : least_lacking(service, looked_at)) {
    const Amounts room = p_.rooms.free(node);
    for (const Guest& guest : guests_[node]) {
      if (guest.service == service) continue;
      const double here = fitness_[service].of(with(room, p_.services[guest.service].size, 1));
      if (here == Fitness::kNoRoom) continue;
      for (const NodeChoice& there : targets_of(guest.service).best) {
        if (there.node == node) continue;
        const double value = here + there.fitness;
        if (!best || value > best->value) best = Way{value, node, guest.service, there.node};
        break;
      }
    }
  }
  return best;
}

const ServiceMoves::Targets& ServiceMoves::targets_of(std::uint32_t service) {
  Targets& targets = targets_[service];
  if (!targets.known) {
    targets.known = true;
    targets.best =
        best_.find(p_.rooms, p_.services[service], fitness_[service], placement_.spots[service], 2);
    std::sort(targets.best.begin(), targets.best.end(), better);
  }
  return targets;
}

/// The nodes that may have one more of the service, those first that lack least of its size.
std::vector<std::uint32_t> ServiceMoves::least_lacking(std::uint32_t service,
                                                       std::uint32_t looked_at) const {
  const Service& of = p_.services[service];
  std::vector<std::pair<double, std::uint32_t>> lacks;
  for (std::uint32_t node = 0; node < p_.rooms.count(); ++node) {
    if (!of.may_be_on(p_.rooms.kind(node))) continue;
    if (count_at(placement_.spots[service], node) >= of.most_a_node) continue;
    const Amounts room = p_.rooms.free(node);
    double lack = 0;
    for (std::size_t k = 0; k < kMostDims; ++k) {
      lack += std::max(0.0, of.size[k] - room[k]) * per_mean_[k];
    }
    lacks.emplace_back(lack, node);
  }
  const std::size_t count = std::min<std::size_t>(looked_at, lacks.size());
  std::partial_sort(lacks.begin(), lacks.begin() + static_cast<std::ptrdiff_t>(count), lacks.end());
  std::vector<std::uint32_t> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back(lacks[i].second);
  return nodes;
}

/// One replica to a node of a higher fitness than its own has without it.
void ServiceMoves::try_single_move(Rng& rng) {
  const auto from = static_cast<std::uint32_t>(rng.below(p_.rooms.count()));
  const auto to = static_cast<std::uint32_t>(rng.below(p_.rooms.count()));
  if (from == to || guests_[from].empty()) return;
  const std::uint32_t service = guests_[from][rng.below(guests_[from].size())].service;
  const Service& of = p_.services[service];
  const Amounts here = p_.rooms.free(from);
  const Amounts there = p_.rooms.free(to);
  if (!fits(of.size, there) || !of.may_be_on(p_.rooms.kind(to))) return;
  if (count_at(placement_.spots[service], to) >= of.most_a_node) return;
  if (p_.rooms.zone(from) != p_.rooms.zone(to)) return;
  const double gain = fitness_[service].of(there) - fitness_[service].of(with(here, of.size, 1));
  if (gain <= kLeastGain) return;
  leave(service, from);
  come(service, to);
}

void ServiceMoves::come(std::uint32_t service, std::uint32_t node) {
  p_.rooms.take(node, p_.services[service].size);
  put_at(placement_.spots[service], node);
  note_guest(service, node, 1);
  steps_.push_back({service, node, true});
}

void ServiceMoves::leave(std::uint32_t service, std::uint32_t node) {
  p_.rooms.take(node, p_.services[service].size, -1);
  take_from(placement_.spots[service], node);
  note_guest(service, node, -1);
  steps_.push_back({service, node, false});
}

void ServiceMoves::note_guest(std::uint32_t service, std::uint32_t node, int change) {
  std::vector<Guest>& guests = guests_[node];
  const auto guest = std::find_if(guests.begin(), guests.end(),
                                  [&](const Guest& one) { return one.service == service; });
  if (guest == guests.end()) {
    guests.push_back({service, 1});
  } else if (change > 0) {
    ++guest->count;
  } else if (--guest->count == 0) {
    *guest = guests.back();
    guests.pop_back();
  }
}

void ServiceMoves::undo_to(std::size_t steps) {
  while (steps_.size() > steps) {
    const Step step = steps_.back();
    if (step.came) {
      leave(step.service, step.node);
    } else {
      come(step.service, step.node);
    }
    steps_.pop_back();  // the undoing itself
    steps_.pop_back();
  }
}

PeriodPlacement place_with_moves(const ServiceMoves::Parts& parts, const MoveRules& moves, Rng& rng,
                                 std::vector<Spots> standing) {
  PeriodPlacement placement =
      place_period(parts.rooms, parts.services, parts.demand, parts.rules, standing);
  ServiceMoves(parts, placement, standing).run(moves, rng);
  return placement;
}

}  // namespace muster::lrasched
