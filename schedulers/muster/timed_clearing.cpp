#include <algorithm>

#include "schedulers/muster/timed_round.hpp"
#include "schedulers/packing/rounds/moves.hpp"

// Instances that are used little are emptied: all of an instance's tasks go to where they cost
// least, or together to a cheaper instance, or none does. It costs the longer lives of the targets,
// the instance itself until all have left, and the time that the tasks lose; the moves are dropped
// where that is not far less than staying. All of it is one group of the plan.

namespace muster::own {
namespace {

/// Instances of whose resources less than such a share is used are looked at.
constexpr double kUsedLittle = 0.5;
/// Factor by which staying has to cost more than leaving: others would have used the room, too, and
/// expected run times are mostly wrong.
constexpr double kLeastSaving = 3;
/// Share of the price of its work that a task's time is worth while it is on its way.
constexpr double kLostTime = 0.5;

}  // namespace

/// The greatest share of a kind of resource that is in use.
double TimedRound::used_share(std::uint32_t number) const {
  const InstanceRow& at = p_.view.state.instance(instance(number).slot);
  const Resources& capacity = p_.view.catalog[at.type].capacity;
  double most = 0;
  for (const Resource kind : kAllResources) {
    if (capacity[kind] > 0) most = std::max(most, at.committed[kind] / capacity[kind]);
  }
  return most;
}

bool TimedRound::may_clear(std::uint32_t number) const {
  return !rooms_[number].taken && !instance(number).owned &&
         is_free_to_move(p_.view, p_.input, instance(number)) && used_share(number) < kUsedLittle;
}

void TimedRound::clear() {
  std::vector<std::pair<double, std::uint32_t>> order;  // those used least first
  for (std::uint32_t i = 0; i < rooms_.size(); ++i) {
    if (may_clear(i)) order.emplace_back(used_share(i), i);
    // Running tasks move to running instances, not to those on their way.
    if (!instance(i).ready) rooms_[i].open = false;
  }
  std::sort(order.begin(), order.end());
  for (const auto& [used, room] : order) {
    if (is_spent()) return;
    if (!rooms_[room].taken) clear(room);
  }
}

bool TimedRound::clear(std::uint32_t number) {
  const Exodus exodus = exodus_of(number);
  rooms_[number].open = false;
  if (clear_onto_rooms(number, exodus) || clear_onto_new(number, exodus)) return true;
  rooms_[number].open = true;
  return false;
}

TimedRound::Exodus TimedRound::exodus_of(std::uint32_t number) {
  Exodus exodus;
  for (const std::uint32_t task : p_.input.residents(instance(number))) {
    Kind kind = kind_of(task);
    const double takes_s = to_seconds(move_time(p_.view.state.spec(row(task)).delays));
    exodus.usd += kLostTime * kind.least_usd_h * takes_s / 3600;
    exodus.delay_s = std::max(exodus.delay_s, takes_s);
    kind.left = later(kind.left, takes_s);
    exodus.kinds.push_back(std::move(kind));
  }
  std::stable_sort(exodus.kinds.begin(), exodus.kinds.end(),
                   [](const Kind& a, const Kind& b) { return a.mean_s > b.mean_s; });
  return exodus;
}

bool TimedRound::clear_onto_rooms(std::uint32_t number, const Exodus& exodus) {
  const Room& from = rooms_[number];
  const double most_usd = from.usd_h * mean(from.end) / 3600 / kLeastSaving;
  double usd = exodus.usd + from.usd_h * exodus.delay_s / 3600;
  std::vector<std::pair<std::uint32_t, Room>> before;  // of the rooms that tasks come to
  for (const Kind& kind : exodus.kinds) {
    const auto best = usd < most_usd ? best_room(kind, 1) : std::nullopt;
    if (!best) break;
    Room& room = rooms_[best->room];
    usd += room.usd_h * mean_excess(kind.left, room.end) / 3600;
    before.emplace_back(best->room, room);
    room.free -= p_.prices.on(kind.asks.shape, room.type).amount;
    raise(room.end, kind.left);
    room.taken = true;
  }
  if (before.size() < exodus.kinds.size() || usd >= most_usd) {
    for (; !before.empty(); before.pop_back()) rooms_[before.back().first] = before.back().second;
    return false;
  }
  const Cause cause{CauseCode::partial_reconfiguration, instance(number).price_usd_h};
  for (std::size_t i = 0; i < before.size(); ++i) {
    plan_.places.push_back({.task = row(exodus.kinds[i].tasks.front()).id,
                            .to = instance(before[i].first).id,
                            .cause = cause,
                            .group = next_group_});
  }
  moved_ += static_cast<std::uint32_t>(before.size());
  release_cleared(number, cause);
  return true;
}

/// The tasks run on until the new instance is there.
bool TimedRound::clear_onto_new(std::uint32_t number, const Exodus& exodus) {
  const Room& from = rooms_[number];
  const Kind& first = exodus.kinds.front();
  std::optional<std::pair<double, RentedAs>> best;
  for (std::uint32_t i = 0; i < p_.prices.types().size(); ++i) {
    const auto usd_h = usd_h_on(TypeId{i}, first);
    if (!usd_h || (best && best->first <= *usd_h)) continue;
    Resources used{};
    const bool fit = std::all_of(exodus.kinds.begin(), exodus.kinds.end(), [&](const Kind& kind) {
      const ShapeOnType& on = p_.prices.on(kind.asks.shape, TypeId{i});
      used += on.amount;
      return on.fits && kind.asks.markets == first.asks.markets;
    });
    if (!fit || !used.fits_in(p_.prices.types()[TypeId{i}].capacity)) continue;
    best.emplace(*usd_h, *offers_.of(TypeId{i}, first.asks.markets));
  }
  if (!best || best->first >= from.usd_h) return false;
  const InstanceType& type = p_.view.catalog[best->second.type];
  const double boot_s = to_seconds(type.acquire + type.setup);
  Cases end = from.end;
  for (float& one : end) one = std::max(0.0F, one - static_cast<float>(boot_s));
  const double usd =
      exodus.usd +
      (from.usd_h * (boot_s + exodus.delay_s) + best->first * (mean(end) + exodus.delay_s)) / 3600;
  if (usd * kLeastSaving >= from.usd_h * mean(from.end) / 3600) return false;
  const double saved_usd_h = instance(number).price_usd_h - best->second.price.usd_h();
  const Cause cause{CauseCode::partial_reconfiguration, saved_usd_h};
  const LaunchIndex launch{static_cast<std::uint32_t>(plan_.launches.size())};
  plan_.launches.push_back({.type = best->second.type,
                            .market = best->second.market,
                            .cause = cause,
                            .group = next_group_});
  for (const Kind& kind : exodus.kinds) {
    plan_.places.push_back(
        {.task = row(kind.tasks.front()).id, .to = launch, .cause = cause, .group = next_group_});
  }
  moved_ += static_cast<std::uint32_t>(exodus.kinds.size());
  release_cleared(number, cause);
  return true;
}

void TimedRound::release_cleared(std::uint32_t number, const Cause& cause) {
  rooms_[number].taken = true;
  plan_.releases.push_back({instance(number).id, cause, next_group_++});
}

}  // namespace muster::own
