#include "schedulers/baselines/join_index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace muster {
namespace {

constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();
/// Given instances cost nothing: no worth is divided by less.
constexpr double kLeastPrice_usd_h = 1e-9;
/// Ratios that differ by less are equal: worths are added up in another order for each group.
constexpr double kRatioEpsilon = 1e-12;
/// Ratios that are remembered from one task to the next, about 64 bytes each. Beyond that an asker
/// forgets its own after each task and looks anew.
constexpr std::size_t kMostKept = std::size_t{1} << 18U;
/// Groups in which a task looks for any room when the budget is spent.
constexpr int kTriesWhenSpent = 16;

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

}  // namespace

/// Sums do not depend on the order in which the tasks came.
void JoinIndex::Key::add(const Entrant& entrant) {
  std::uint64_t one = mixed(entrant.cls.value + 0x9e3779b97f4a7c15ULL);
  one = mixed(one ^ std::bit_cast<std::uint64_t>(entrant.worth));
  one = mixed(one ^ std::bit_cast<std::uint64_t>(entrant.loss));
  low += one;
  high += mixed(one + 0xd1b54a32d192ed03ULL);
}

std::size_t JoinIndex::Hash::operator()(const Key& key) const noexcept {
  return mixed(key.low ^ mixed(key.price ^ key.type));
}

void JoinIndex::expect(std::span<const std::uint32_t> kinds) {
  const std::size_t types = model_.prices.types().size();
  least_.assign(types, std::nullopt);
  per_unit_.assign(types, std::nullopt);
  open_ = OrderedRooms(static_cast<std::uint32_t>(types));
  std::set<ShapeId> shapes;
  for (std::uint32_t kind : kinds) {
    shapes.insert(kinds_[kind].shape);
    ++asker_of(kind).asks;
  }
  for (std::uint32_t i = 0; i < types; ++i) {
    for (ShapeId shape : shapes) {
      const ShapeOnType& on = model_.prices.on(shape, TypeId{i});
      if (!on.fits) continue;
      if (!least_[i]) least_[i] = on.amount;
      for (Resource one : kAllResources) {
        (*least_[i])[one] = std::min((*least_[i])[one], on.amount[one]);
      }
    }
  }
}

std::uint32_t JoinIndex::add(TypeId type, double price_usd_h, const Resources& free,
                             std::span<const std::uint32_t> tasks) {
  const double price = std::max(price_usd_h, kLeastPrice_usd_h);
  Group group;
  group.key = {type.value, std::bit_cast<std::uint64_t>(price)};
  group.type = type;
  group.price_usd_h = price;
  group.worth.clear(model_);
  for (std::uint32_t kind : tasks) {
    const Entrant entrant = entrant_of(model_, kinds_[kind], type);
    group.key.add(entrant);
    group.worth.add(entrant);
  }
  const auto [known, is_new] =
      group_of_.emplace(group.key, static_cast<std::uint32_t>(groups_.size()));
  if (is_new) groups_.push_back(std::move(group));
  const auto host = static_cast<std::uint32_t>(hosts_.size());
  hosts_.push_back({known->second, free});
  list(host);
  return host;
}

const Resources& JoinIndex::per_unit(TypeId type) {
  auto& known = per_unit_[type.value];
  if (!known) {
    known.emplace();
    const Resources& capacity = model_.prices.types()[type].capacity;
    for (Resource one : kAllResources) {
      (*known)[one] = capacity[one] > kResourceEpsilon ? 1 / capacity[one] : 0;
    }
  }
  return *known;
}

/// The freest first: so a search for the best alignment meets a good one soon, which rules most of
/// the others out.
OrderedRooms::Key JoinIndex::room_key(std::uint32_t host) const {
  const Resources& unit = *per_unit_[groups_[hosts_[host].group].type.value];
  double shares = 0;
  for (Resource one : kAllResources) shares += hosts_[host].free[one] * unit[one];
  return {-shares, host};
}

void JoinIndex::list(std::uint32_t host) {
  Host& one = hosts_[host];
  Group& group = groups_[one.group];
  const auto& least = least_[group.type.value];
  one.listed = least && least->fits_in(one.free);
  if (!one.listed) return;
  per_unit(group.type);
  group.rooms.insert(0, room_key(host), one.free);
  refresh(one.group);
}

void JoinIndex::unlist(std::uint32_t host) {
  Host& one = hosts_[host];
  if (!one.listed) return;
  groups_[one.group].rooms.erase(0, room_key(host));
  one.listed = false;
  refresh(one.group);
}

/// Askers that passed a group by, as too small for them, look at it again when it gets more room.
void JoinIndex::refresh(std::uint32_t number) {
  Group& group = groups_[number];
  const auto most = group.rooms.most(0);
  if (group.order > 0 && most && *most == group.greatest) return;
  const bool grows =
      most && std::any_of(kAllResources.begin(), kAllResources.end(),
                          [&](Resource one) { return (*most)[one] > group.greatest[one]; });
  const std::uint32_t type = group.type.value;
  if (group.order > 0 && most && !grows) {
    open_.replace(type, {group.order, number}, *most);
  } else {
    if (group.order > 0) open_.erase(type, {group.order, number});
    group.order = most ? ++last_order_ : 0;
    if (most) open_.insert(type, {group.order, number}, *most);
  }
  group.greatest = most.value_or(Resources{});
}

JoinIndex::Asker& JoinIndex::asker_of(std::uint32_t kind) {
  if (asker_of_kind_.empty()) asker_of_kind_.assign(kinds_.size(), kUnknown);
  std::uint32_t& known = asker_of_kind_[kind];
  if (known == kUnknown) {
    std::vector<double> brings{static_cast<double>(kinds_[kind].cls.value)};
    for (std::uint32_t i = 0; i < least_.size(); ++i) {
      const Entrant entrant = entrant_of(model_, kinds_[kind], TypeId{i});
      brings.push_back(entrant.worth);
      brings.push_back(entrant.loss);
    }
    const auto [entry, is_new] =
        asker_ids_.emplace(std::move(brings), static_cast<std::uint32_t>(askers_.size()));
    if (is_new) askers_.push_back({.kind = kind});
    known = entry->second;
    askers_[known].shapes.push_back(kinds_[kind].shape);
  }
  return askers_[known];
}

double JoinIndex::ratio(double worth_usd_h, const Group& group) const {
  return worth_usd_h / group.price_usd_h;
}

void JoinIndex::list_least(Asker& asker) const {
  asker.least.assign(least_.size(), std::nullopt);
  for (std::uint32_t i = 0; i < least_.size(); ++i) {
    for (ShapeId shape : asker.shapes) {
      const ShapeOnType& on = model_.prices.on(shape, TypeId{i});
      if (!on.fits) continue;
      auto& least = asker.least[i];
      if (!least) least = on.amount;
      for (Resource one : kAllResources) (*least)[one] = std::min((*least)[one], on.amount[one]);
    }
  }
}

void JoinIndex::look_at_new_groups(Asker& asker, Budget& budget) {
  if (asker.seen == last_order_) return;
  if (asker.least.empty()) list_least(asker);
  while (const auto next = open_.first(asker.least, {asker.seen + 1, 0})) {
    if (budget.is_spent()) {
      cut_off_ = true;
      return;
    }
    budget.spend();
    asker.seen = next->order;
    const Group& group = groups_[next->room];
    const double with = group.worth.with(entrant_of(model_, kinds_[asker.kind], group.type));
    if (!rules_.may_fall && with < group.worth.usd_h() - kWorthEpsilon_usd_h) continue;
    if (ratio(with, group) < rules_.least_ratio) continue;
    kept_ += asker.by_ratio.emplace(-ratio(with, group), next->room).second;
  }
  asker.seen = last_order_;
}

std::optional<JoinIndex::Found> JoinIndex::best_seen(Asker& asker, std::uint32_t kind,
                                                     Budget& budget, const RoomRule& may_join) {
  std::optional<Found> best;
  double most = 0;  // the ratio of the first that has room
  for (auto at = asker.by_ratio.begin(); at != asker.by_ratio.end();) {
    const double ratio = -at->first;
    if (best && ratio < most - kRatioEpsilon) break;
    const Group& group = groups_[at->second];
    // It comes back when it has more room again.
    if (group.order == 0 || !asker.least[group.type.value]->fits_in(group.greatest)) {
      at = asker.by_ratio.erase(at);
      --kept_;
      continue;
    }
    if (budget.is_spent()) {
      cut_off_ = true;
      break;
    }
    budget.spend();
    ++at;
    const ShapeOnType& on = model_.prices.on(kinds_[kind].shape, group.type);
    if (!on.fits) continue;
    needs_[0] = on.amount;
    const Resources& unit = per_unit(group.type);
    const auto room = group.rooms.most_aligned(needs_, unit, may_join);
    if (!room) continue;
    double alignment = 0;
    for (Resource one : kAllResources) {
      alignment += on.amount[one] * unit[one] * hosts_[room->room].free[one] * unit[one];
    }
    const bool better = !best || alignment > best->alignment ||
                        (alignment == best->alignment && room->room < best->host);
    if (!best) most = ratio;
    if (better) best = Found{room->room, ratio, alignment};
  }
  return best;
}

/// Of the groups that got room first.
std::optional<JoinIndex::Found> JoinIndex::any_room(std::uint32_t kind,
                                                    const RoomRule& may_join) const {
  GroupNeeds needs(least_.size());
  for (std::uint32_t i = 0; i < needs.size(); ++i) {
    const ShapeOnType& on = model_.prices.on(kinds_[kind].shape, TypeId{i});
    if (on.fits) needs[i] = on.amount;
  }
  OrderedRooms::Key from;
  for (int tries = 0; tries < kTriesWhenSpent; ++tries) {
    const auto next = open_.first(needs, from);
    if (!next) break;
    const Group& group = groups_[next->room];
    const GroupNeeds need{needs[group.type.value]};
    const auto room =
        group.rooms.first(need, {-std::numeric_limits<double>::infinity(), 0}, may_join);
    if (room) {
      const double with = group.worth.with(entrant_of(model_, kinds_[kind], group.type));
      return Found{room->room, ratio(with, group), 0};
    }
    from = {next->order, next->room + 1};
  }
  return std::nullopt;
}

void JoinIndex::forget(Asker& asker) {
  kept_ -= asker.by_ratio.size();
  asker.by_ratio.clear();
  asker.least = {};
  asker.seen = 0;
}

std::optional<JoinIndex::Found> JoinIndex::best(std::uint32_t kind, Budget& budget,
                                                const RoomRule& may_join) {
  Asker& asker = asker_of(kind);
  look_at_new_groups(asker, budget);
  auto best = best_seen(asker, kind, budget, may_join);
  const bool any_will_do = rules_.may_fall && std::isinf(rules_.least_ratio);
  if (!best && cut_off_ && any_will_do) best = any_room(kind, may_join);
  if (asker.asks > 0) --asker.asks;
  if (asker.asks == 0 || kept_ > kMostKept) forget(asker);
  return best;
}

std::uint32_t JoinIndex::group_after(std::uint32_t before, const Entrant& entrant) {
  Key key = groups_[before].key;
  key.add(entrant);
  const auto [known, is_new] = group_of_.emplace(key, static_cast<std::uint32_t>(groups_.size()));
  if (is_new) {
    Group group;
    group.key = key;
    group.type = groups_[before].type;
    group.price_usd_h = groups_[before].price_usd_h;
    group.worth = groups_[before].worth;
    group.worth.add(entrant);
    groups_.push_back(std::move(group));
  }
  return known->second;
}

JoinIndex::Before JoinIndex::join(std::uint32_t host, std::uint32_t kind) {
  const Before before{hosts_[host].group, hosts_[host].free};
  const TypeId type = groups_[before.group].type;
  unlist(host);
  hosts_[host].group = group_after(before.group, entrant_of(model_, kinds_[kind], type));
  hosts_[host].free -= model_.prices.on(kinds_[kind].shape, type).amount;
  list(host);
  return before;
}

void JoinIndex::take_back(std::uint32_t host, const Before& before) {
  unlist(host);
  hosts_[host].group = before.group;
  hosts_[host].free = before.free;
  list(host);
}

}  // namespace muster
