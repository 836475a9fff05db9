#include "schedulers/lrasched/service_round.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "schedulers/lrasched/first_fit.hpp"
#include "schedulers/lrasched/placement_program.hpp"
#include "schedulers/lrasched/service_moves.hpp"
#include "schedulers/lrasched/service_placer.hpp"

namespace muster::lrasched {
namespace {

/// Single moves that a pass of the search for room looks at, however many instances there are.
constexpr std::uint32_t kMostTries = 20'000;

/// The search of a round ends within some tens of milliseconds on thousands of instances.
MoveRules move_rules(std::uint32_t nodes) {
  MoveRules rules;
  rules.tries_a_node = std::min(rules.tries_a_node, kMostTries / std::max(nodes, 1U));
  return rules;
}

}  // namespace

ServiceRound::ServiceRound(const LraParams& params, ServiceInput& input,
                           const IntegerSolver* solver)
    : params_(params), in_(input), solver_(solver), services_(input.services) {}

ServiceChoice ServiceRound::run(const RentLeft& left, bool rents, Rng& rng) {
  choice_.placement = {in_.standing, std::vector<char>(services_.size(), 0)};
  replace_lost();
  place(rng);
  if (rents) rent(left);
  replace_lost();
  tell_why(rents);
  return std::move(choice_);
}

/// A service that stands has been admitted: each replica that it has lost counts by itself.
void ServiceRound::replace_lost() {
  ServicePlacer placer(in_.rooms);
  for (const std::uint32_t i : placing_order(services_, in_.demand, params_.rules)) {
    if (!in_.waiting[i].stands || choice_.placement.whole[i] != 0) continue;
    const Fitness fitness(params_.rules.fit, services_[i].size, scale_of(in_.demand, in_.rooms));
    services_[i].replicas -= placer.place_some(services_[i], fitness, choice_.placement.spots[i]);
    choice_.placement.whole[i] = services_[i].replicas == 0 ? 1 : 0;
  }
}

/// Phase 1. Services that are whole already ask for no further replica.
void ServiceRound::place(Rng& rng) {
  std::vector<Spots> standing = choice_.placement.spots;
  if (params_.scheme == Scheme::first_fit) {
    choice_.placement =
        place_first_fit(in_.rooms, services_, in_.demand, FirstFit::number, std::move(standing));
    return;
  }
  NodeRooms before = in_.rooms;
  choice_.placement = place_period(in_.rooms, services_, in_.demand, params_.rules, standing);
  if (params_.moves) move(standing, rng);
  if (params_.scheme == Scheme::program) solve(std::move(before), standing);
}

/// Where something found no room, and something else was placed that can make way.
void ServiceRound::move(const std::vector<Spots>& standing, Rng& rng) {
  const PeriodPlacement& placement = choice_.placement;
  if (placement.placed() == services_.size() || placement.spots == standing) return;
  ServiceMoves({in_.rooms, services_, in_.demand, params_.rules}, choice_.placement, standing)
      .run(move_rules(in_.rooms.count()), rng);
}

/// (11) to (17), beginning with what was found. An answer that places no more is left, and
/// services of several priorities are, which (11) does not know.
void ServiceRound::solve(NodeRooms before, const std::vector<Spots>& standing) {
  if (solver_ == nullptr || choice_.placement.placed() == services_.size()) return;
  const auto differs = [&](const Service& one) {
    return one.priority != services_.front().priority;
  };
  if (std::any_of(services_.begin(), services_.end(), differs)) return;
  if (std::uint64_t{before.count()} * services_.size() > params_.cells) return;
  Amounts least;
  least.fill(std::numeric_limits<double>::infinity());
  for (const Service& service : services_) {
    for (std::size_t k = 0; k < kMostDims; ++k) least[k] = std::min(least[k], service.size[k]);
  }
  PlacementProgram program(before, services_, least, standing);
  const SolveLimits limits{params_.nodes, params_.seconds, 0};
  auto found = program.solve(*solver_, limits, choice_.placement);
  if (!found || found.value().placed() <= choice_.placement.placed()) return;
  choice_.placement = std::move(found.value());
  in_.rooms = std::move(before);
  for (std::size_t i = 0; i < services_.size(); ++i) {
    for (const Spot& spot : choice_.placement.spots[i]) {
      const std::uint32_t stood = count_at(standing[i], spot.node);
      if (spot.count > stood) in_.rooms.take(spot.node, services_[i].size, spot.count - stood);
    }
  }
}

/// Phase 2.
void ServiceRound::rent(const RentLeft& left) {
  if (choice_.placement.placed() == services_.size()) return;
  PurchaseRules rules{in_.offers};
  rules.spread = params_.spread;
  if (left.instances) {
    rules.most_nodes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(*left.instances, rules.most_nodes));
  }
  if (left.nano_usd_h) {
    rules.most_price = Price::from_nano_usd_h(std::max<std::int64_t>(*left.nano_usd_h, 0)).usd_h();
  }
  const auto buy = params_.phase2 == Phase2::paper ? buy_as_printed : buy_nodes;
  Purchases bought = buy(in_.rooms, services_, in_.demand, rules, choice_.placement);
  choice_.rented = std::move(bought.offers);
  choice_.refused = std::move(bought.refused);
  if (params_.scheme == Scheme::program) use_fewer();
}

/// (18), (19): the replicas on new instances, on as few of these as hold them.
void ServiceRound::use_fewer() {
  const std::size_t rented = choice_.rented.size();
  if (solver_ == nullptr || rented < 2 || rented * services_.size() > params_.cells) return;
  const auto first = static_cast<std::uint32_t>(in_.rooms.count() - rented);
  std::vector<Amounts> nodes;
  std::vector<std::uint32_t> kinds;
  for (const std::uint32_t offer : choice_.rented) {
    nodes.push_back(in_.offers[offer].capacity);
    kinds.push_back(in_.offers[offer].kind);
  }
  std::vector<Service> there = services_;
  std::vector<Spots> start(services_.size());
  for (std::size_t i = 0; i < there.size(); ++i) {
    for (const Spot& spot : choice_.placement.spots[i]) {
      if (spot.node >= first) start[i].push_back({spot.node - first, spot.count});
    }
    there[i].replicas = replicas_in(start[i]);
  }
  NewNodesProgram program(nodes, there, kinds);
  const auto found = program.solve(*solver_, {params_.nodes, params_.seconds, 0}, start);
  if (found) drop_rented(found.value());
}

/// Replicas on new instances are where `on_new` says, and instances without any are not rented.
void ServiceRound::drop_rented(const std::vector<Spots>& on_new) {
  const auto first = static_cast<std::uint32_t>(in_.rooms.count() - choice_.rented.size());
  std::vector<std::uint32_t> number(choice_.rented.size(), 0);
  for (const Spots& spots : on_new) {
    for (const Spot& spot : spots) number[spot.node] = 1;
  }
  std::vector<std::uint32_t> kept;
  for (std::uint32_t i = 0; i < number.size(); ++i) {
    if (number[i] == 0) continue;
    number[i] = first + static_cast<std::uint32_t>(kept.size());
    kept.push_back(choice_.rented[i]);
  }
  if (kept.size() == choice_.rented.size()) return;
  while (in_.rooms.count() > first) in_.rooms.remove_last();
  for (const std::uint32_t offer : kept) {
    in_.rooms.add(in_.offers[offer].capacity, in_.offers[offer].kind, in_.offers[offer].zone);
  }
  for (std::size_t i = 0; i < on_new.size(); ++i) {
    Spots& spots = choice_.placement.spots[i];
    std::erase_if(spots, [&](const Spot& spot) { return spot.node >= first; });
    for (const Spot& spot : on_new[i]) {
      spots.push_back({number[spot.node], spot.count});
      in_.rooms.take(number[spot.node], services_[i].size, spot.count);
    }
  }
  choice_.rented = std::move(kept);
}

void ServiceRound::tell_why(bool rents) {
  const auto is_whole = [&](const ServiceRefusal& one) {
    return choice_.placement.whole[one.service] != 0;
  };
  std::erase_if(choice_.refused, is_whole);
  if (rents) return;
  for (std::uint32_t i = 0; i < services_.size(); ++i) {
    if (choice_.placement.whole[i] == 0) choice_.refused.push_back(why_refused(i));
  }
}

/// Where the instances are given: with as many replicas on one as have room there it would be
/// placed, or there is too little of a resource in all, or of the one that most instances lack.
ServiceRefusal ServiceRound::why_refused(std::uint32_t service) const {
  const Service& of = services_[service];
  std::uint32_t without_limit = 0;
  Amounts usable{};
  std::array<std::uint32_t, kMostDims> lacking{};
  for (std::uint32_t node = 0; node < in_.rooms.count(); ++node) {
    if (!of.may_be_on(in_.rooms.kind(node))) continue;
    const Amounts room = in_.rooms.free(node);
    without_limit += how_many_fit(of.size, room, of.replicas);
    for (std::size_t k = 0; k < kMostDims; ++k) {
      usable[k] += std::max(room[k], 0.0);
      if (of.size[k] > room[k] + kRoomEpsilon) ++lacking[k];
    }
  }
  if (without_limit >= of.replicas) return {service, RefusalCause::limit, 0};
  for (std::size_t k = 0; k < kMostDims; ++k) {
    if (of.replicas * of.size[k] > usable[k] + kRoomEpsilon) {
      return {service, RefusalCause::nodes, k};
    }
  }
  const auto most = std::max_element(lacking.begin(), lacking.end());
  return {service, RefusalCause::nodes, static_cast<std::size_t>(most - lacking.begin())};
}

}  // namespace muster::lrasched
