// Repartitions with gangs. The worth of a gang depends on all of its tasks, wherever they are, so
// subsets do not add up. A search over subsets then takes each task of a gang for the best that it
// could be: its value is at least that of every way to place all. Branch and bound closes the gap:
// where the way found is worth less, the ways are divided by what becomes of a gang, or by the pace
// or the delay of its slowest task, and each part is searched with that known.

#include <algorithm>
#include <cmath>

#include "model/check.hpp"
#include "schedulers/muster/offers.hpp"
#include "schedulers/muster/repartition.hpp"

namespace muster::own {
namespace {

using Fate = GangLimits::Fate;

/// Values that differ by less, as a share, are equal.
constexpr double kEqual = 1e-9;

bool is_more(double value, double than) {
  return value > than + kEqual * std::max(1.0, std::abs(value));
}

/// How the tasks of a gang fare in a partition.
struct GangStanding {
  double worth_usd_h = 0;
  std::uint32_t waiting = 0;
  std::uint32_t moved = 0;
  std::uint32_t at_home = 0;
  double least_pace = 0, most_pace = 0;
  double least_share = 1, most_share = 0;  ///< if the gang starts anew

  bool starts(const Gang& gang) const { return gang.starts || moved > 0; }
};

/// All of a partition but its gangs, and how they fare.
struct Standing {
  double own_usd_h = 0;
  std::vector<GangStanding> gangs;
};

/// Adds what the pieces of no gang earn on the host, and how those of gangs fare there.
bool stand_on(const ValueModel& model, const Host& host, std::uint32_t number,
              std::span<const Piece* const> pieces, Standing& standing) {
  if (pieces.empty() && host.fixed.empty()) return true;
  Paces found;
  const std::span<const double> paces = found.on(model, host, pieces);
  if (paces.empty()) return false;
  standing.own_usd_h -= host.price_usd_h + risk_usd_h(host, found.pieces());
  for (std::size_t i = 0; i < paces.size(); ++i) {
    const Piece& piece = i < pieces.size() ? *pieces[i] : host.fixed[i - pieces.size()];
    const bool at_home = i >= pieces.size() || piece.home == number;
    const double share = share_on(model, piece, host, at_home);
    if (piece.gang == kNoGang) {
      standing.own_usd_h += piece.value_usd_h * paces[i] * (at_home ? 1 : share);
      continue;
    }
    GangStanding& gang = standing.gangs[piece.gang];
    gang.worth_usd_h += piece.value_usd_h;
    ++(at_home ? gang.at_home : gang.moved);
    gang.least_pace = std::min(gang.least_pace, paces[i]);
    gang.most_pace = std::max(gang.most_pace, paces[i]);
    gang.least_share = std::min(gang.least_share, share);
    gang.most_share = std::max(gang.most_share, share);
  }
  return true;
}

std::optional<Standing> stand(const ValueModel& model, std::span<const Host> hosts,
                              std::span<const Piece> pieces, std::span<const Gang> gangs,
                              const Partition& partition) {
  Standing standing;
  for (const Gang& gang : gangs) {
    standing.gangs.push_back(
        {.least_pace = gang.pace_elsewhere, .least_share = gang.share_elsewhere});
  }
  std::vector<std::vector<const Piece*>> sets(hosts.size() + partition.new_hosts.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (partition.host_of[i] != Partition::kWaits) {
      sets[partition.host_of[i]].push_back(&pieces[i]);
    } else if (pieces[i].gang != kNoGang) {
      standing.gangs[pieces[i].gang].worth_usd_h += pieces[i].value_usd_h;
      ++standing.gangs[pieces[i].gang].waiting;
    }
    if (partition.host_of[i] == Partition::kWaits && !pieces[i].may_wait) {
      standing.own_usd_h += not_waiting_usd_h(pieces[i]);
    }
  }
  for (std::uint32_t i = 0; i < sets.size(); ++i) {
    const bool is_new = i >= hosts.size();
    const Host host = is_new ? model.offers[partition.new_hosts[i - hosts.size()]] : hosts[i];
    if (!stand_on(model, host, is_new ? kNewHost : i, sets[i], standing)) return std::nullopt;
  }
  return standing;
}

}  // namespace

std::optional<double> value_of(const ValueModel& model, std::span<const Host> hosts,
                               std::span<const Piece> pieces, std::span<const Gang> gangs,
                               const Partition& partition) {
  const std::optional<Standing> standing = stand(model, hosts, pieces, gangs, partition);
  if (!standing) return std::nullopt;
  double sum = standing->own_usd_h;
  for (std::size_t g = 0; g < gangs.size(); ++g) {
    const GangStanding& gang = standing->gangs[g];
    if (gang.waiting > 0) {
      if (gang.moved + gang.at_home > 0 || !gangs[g].whole) return std::nullopt;
    } else if (gang.moved + gang.at_home > 0) {
      const double share = gang.starts(gangs[g]) ? gang.least_share : 1;
      sum += gang.worth_usd_h * gang.least_pace * share;
    }
  }
  return sum;
}

/// The parts of a branch whose best way is worth less than it seemed: together they hold all of its
/// ways. Empty when no gang can be the reason.
std::vector<Repartition::Limits> Repartition::divide(const Branch& branch,
                                                     std::span<const Gang> gangs) const {
  std::vector<Limits> parts;
  const auto add = [&](std::size_t gang, const auto& limit) {
    parts.push_back(branch.limits);
    limit(parts.back()[gang]);
  };
  const auto standing = stand(model_, hosts_, pieces_, gangs, branch.found);
  if (!standing) return parts;
  for (std::size_t g = 0; g < gangs.size() && parts.empty(); ++g) {
    const GangStanding& gang = standing->gangs[g];
    const bool mixed = gang.waiting > 0 && gang.moved + gang.at_home > 0;
    const bool drags = gang.starts(gangs[g]) && gang.at_home > 0;
    if (branch.limits[g].fate != Fate::open || !(mixed || drags)) continue;
    if (!gangs[g].starts) add(g, [](GangLimits& limit) { limit.fate = Fate::stays; });
    add(g, [](GangLimits& limit) { limit.fate = Fate::starts; });
    if (gangs[g].whole) add(g, [](GangLimits& limit) { limit.fate = Fate::waits; });
  }
  for (std::size_t g = 0; g < gangs.size() && parts.empty(); ++g) {
    const GangStanding& gang = standing->gangs[g];
    const GangLimits& known = branch.limits[g];
    const double pace = gang.least_pace, share = gang.least_share;
    // Sums in another order differ in their last bits: floors are that much higher.
    if (gang.most_pace > pace && std::min(known.pace_cap, gangs[g].pace_elsewhere) > pace) {
      add(g, [&](GangLimits& limit) { limit.pace_cap = pace; });
      add(g, [&](GangLimits& limit) { limit.pace_floor = pace * (1 + kEqual); });
    } else if (gang.starts(gangs[g]) && gang.most_share > share &&
               std::min(known.share_cap, gangs[g].share_elsewhere) > share) {
      add(g, [&](GangLimits& limit) { limit.share_cap = share; });
      add(g, [&](GangLimits& limit) { limit.share_floor = share * (1 + kEqual); });
    }
  }
  return parts;
}

const Partition& Repartition::run(std::span<const Host> hosts, std::span<const Piece> pieces,
                                  std::span<const Gang> gangs, double least_usd_h) {
  if (gangs.empty()) return run(hosts, pieces);
  MUSTER_CHECK(pieces.size() <= kMostTasks, "a repartition is of few tasks");
  hosts_ = hosts;
  pieces_ = pieces;
  values_.take(pieces, gangs);
  best_found_ = {kNever, {}, {}};
  std::vector<Branch> open;
  std::uint32_t searches = 0;
  const auto look = [&](Limits limits) {
    ++searches;
    const Partition& found = search(limits);
    if (!is_more(found.value_usd_h, std::max(least_usd_h, best_found_.value_usd_h))) return;
    const double most = found.value_usd_h;
    open.push_back({std::move(limits), most, found});
    // Its own worth may be the best so far, whatever its branch still holds.
    const auto value = value_of(model_, hosts_, pieces_, gangs, open.back().found);
    if (value && *value > best_found_.value_usd_h) {
      best_found_ = open.back().found;
      best_found_.value_usd_h = *value;
    }
  };
  // Nothing is known at first; each division after that only narrows what may be.
  look(Limits(gangs.size()));
  while (!open.empty() && searches < most_searches_) {
    // The most promising first, and of equals the oldest.
    const auto next = std::max_element(
        open.begin(), open.end(),
        [](const Branch& a, const Branch& b) { return a.most_usd_h < b.most_usd_h; });
    const Branch branch = std::move(*next);
    open.erase(next);
    if (!is_more(branch.most_usd_h, best_found_.value_usd_h)) break;
    for (Limits& part : divide(branch, gangs)) look(std::move(part));
  }
  return best_found_;
}

}  // namespace muster::own
