#include "schedulers/packing/index/open_rooms.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/feasible.hpp"
#include "schedulers/packing/complementary.hpp"

namespace muster {

RoomGroups::RoomGroups(const Catalog& catalog) {
  for (const InstanceType& type : catalog.types()) {
    reference_ = most_of(reference_, type.capacity);
  }
  for (Resource kind : kAllResources) {
    per_unit_[kind] = reference_[kind] > kResourceEpsilon ? 1 / reference_[kind] : 0;
  }
}

double RoomGroups::sum_of_shares(const Resources& amount) const {
  double sum = 0;
  for (Resource kind : kAllResources) sum += std::max(0.0, amount[kind]) * per_unit_[kind];
  return sum;
}

GroupNeeds RoomGroups::needs(const PlacementMask& mask, const PlaceAsks& asks) {
  GroupNeeds needs(size(mask));
  for (std::uint32_t group = 0; group < mask.groups(); ++group) {
    const std::optional<Resources>& amount = mask.on_group(asks.shape, group);
    if (wants(asks.markets, Market::on_demand)) needs[2 * std::size_t{group}] = amount;
    if (wants(asks.markets, Market::spot)) needs[2 * std::size_t{group} + 1] = amount;
  }
  return needs;
}

/// A search for the largest product. The free amount below a node bounds the products there.
struct OrderedRooms::Alignment {
  const Index::Open& index;
  const Resources& need;
  const RoomRule& may_join;
  Resources weights;  ///< of a unit that is free
  double best = -1;
  std::optional<Key> found{};
  std::vector<std::pair<Key, Resources>> passed_by{};  ///< for the rule's sake

  double of(const Resources& free) const {
    double sum = 0;
    for (Resource kind : kAllResources) sum += weights[kind] * free[kind];
    return sum;
  }
  void search(Index::Open::Index at) {
    if (at == Index::Open::kNone) return;
    const Index::Open::Node& node = index.node(at);
    if (!need.fits_in(node.all.free) || of(node.all.free) <= best) return;
    search(node.left);
    // Looked at between the two sides, so that the first of equals is the first by key.
    if (need.fits_in(node.item) && of(node.item) > best) {
      if (may_join && !may_join(node.key.room)) {
        passed_by.emplace_back(node.key, node.item);
      } else {
        best = of(node.item);
        found = node.key;
      }
    }
    search(node.right);
  }
};

void OrderedRooms::Most::add(const Most& other) {
  free = most_of(free, other.free);
}

std::optional<OrderedRooms::Key> OrderedRooms::first(const GroupNeeds& needs, const Key& from,
                                                     const RoomRule& may_join) const {
  begin_asking(may_join.jobs());
  std::optional<Found> found = first_with_room(needs, from);
  while (found && may_join && !may_join(found->key.room)) {
    by_group_[found->group].set_aside(found->key, found->free);
    found = first_with_room(needs, found->key);
  }
  return found ? std::optional(found->key) : std::nullopt;
}

/// Items that other jobs' questions have set aside are looked at again.
void OrderedRooms::begin_asking(const std::vector<Slot>& jobs) const {
  if (aside_for_ == jobs) return;
  for (Index& group : by_group_) group.open_aside();
  aside_for_ = jobs;
}

std::optional<OrderedRooms::Found> OrderedRooms::first_with_room(const GroupNeeds& needs,
                                                                 const Key& from) const {
  std::optional<Found> best;
  for (std::size_t group = 0; group < by_group_.size(); ++group) {
    if (!needs[group] || by_group_[group].empty()) continue;
    const auto* found = by_group_[group].open().first(
        from, [&](const Most& most) { return needs[group]->fits_in(most.free); },
        [&](const Resources& free) { return needs[group]->fits_in(free); });
    if (found == nullptr || (best && !(found->key < best->key))) continue;
    best = Found{static_cast<std::uint32_t>(group), found->key, found->item};
  }
  return best;
}

std::optional<OrderedRooms::Key> OrderedRooms::last(const GroupNeeds& needs, double order) const {
  begin_asking({});
  std::optional<double> greatest;
  for (std::size_t group = 0; group < by_group_.size(); ++group) {
    if (!needs[group] || by_group_[group].empty()) continue;
    const auto* found = by_group_[group].open().last(
        {order, std::numeric_limits<std::uint32_t>::max()},
        [&](const Most& most) { return needs[group]->fits_in(most.free); },
        [&](const Resources& free) { return needs[group]->fits_in(free); });
    if (found != nullptr)
      greatest = std::max(greatest.value_or(found->key.order), found->key.order);
  }
  // From behind the greatest number of one order comes first: the least is looked for from ahead.
  return greatest ? first(needs, {*greatest, 0}) : std::nullopt;
}

std::optional<OrderedRooms::Key> OrderedRooms::most_aligned(const GroupNeeds& needs,
                                                            const Resources& per_unit,
                                                            const RoomRule& may_join) const {
  begin_asking(may_join.jobs());
  std::optional<Key> found;
  double best = -1;
  for (std::size_t group = 0; group < by_group_.size(); ++group) {
    if (!needs[group] || by_group_[group].empty()) continue;
    Alignment search{by_group_[group].open(), *needs[group], may_join, {}, best};
    for (Resource kind : kAllResources) {
      search.weights[kind] = (*needs[group])[kind] * per_unit[kind] * per_unit[kind];
    }
    search.search(by_group_[group].open().root());
    for (const auto& [key, free] : search.passed_by) by_group_[group].set_aside(key, free);
    if (search.found) found = search.found;
    best = search.best;
  }
  return found;
}

}  // namespace muster
