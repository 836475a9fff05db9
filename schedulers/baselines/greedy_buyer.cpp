#include "schedulers/baselines/greedy_buyer.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "schedulers/packing/index/fit_tree.hpp"

// Equal tasks are counted, not listed: a fill takes as many of a shape as fit at once, and finds
// the next shape that fits without a look at those that do not (FitTree). The content that a type
// would be filled with stays until some of it has been bought. So an instance costs what it holds
// times the logarithm of the shapes that wait.

namespace muster {
namespace {

/// Tasks of one shape that have no instance yet, the first one next.
struct Alike {
  ShapeId shape;
  double request = 0;  ///< of the constraining resource
  std::vector<std::uint32_t> tasks;
  std::size_t next = 0;

  std::size_t left() const { return tasks.size() - next; }
};

/// How many of the group fit into the room.
std::size_t fitting(const Resources& amount, const Resources& room, std::size_t at_most) {
  double count = static_cast<double>(at_most);
  for (Resource kind : kAllResources) {
    if (amount[kind] <= kResourceEpsilon) continue;
    // Half of what counts as equal, so that adding up in another order does not exceed it.
    count = std::min(count, (room[kind] + kResourceEpsilon / 2) / amount[kind]);
  }
  return count < 1 ? 0 : static_cast<std::size_t>(count);
}

struct TypeFill {
  std::vector<std::pair<std::size_t, std::size_t>>
      taken;        ///< group of alike tasks, and the number of its tasks
  double used = 0;  ///< of the constraining resource
};

/// There is room for one.
bool has_room(const Resources& amount, const Resources& room) {
  return fitting(amount, room, 1) > 0;
}

TypeFill fill_type(const ReservationPrices& prices, TypeId type, const FitTree& index,
                   std::pair<Resource, const std::vector<Alike>&> what) {
  const auto& [resource, waiting] = what;
  TypeFill filled;
  Resources room = prices.types()[type].capacity;
  const auto fits = [&](const Resources& amount) { return has_room(amount, room); };
  const auto next = [&](std::size_t from) { return index.first(from, waiting.size(), fits); };
  for (std::size_t i = next(0); i != FitTree::kNone; i = next(i + 1)) {
    const ShapeOnType& on = prices.on(waiting[i].shape, type);
    if (!on.fits) continue;
    const std::size_t count = fitting(on.amount, room, waiting[i].left());
    for (std::size_t n = 0; n < count; ++n) room -= on.amount;
    filled.used += static_cast<double>(count) * on.amount[resource];
    filled.taken.emplace_back(i, count);
  }
  return filled;
}

/// Nothing of it has been bought meanwhile: the same fill would come out.
bool stands(const TypeFill& filled, const std::vector<Alike>& waiting) {
  return std::all_of(filled.taken.begin(), filled.taken.end(),
                     [&](const auto& part) { return waiting[part.first].left() >= part.second; });
}

/// An index for each group of types; it has no task that no type of the group holds.
std::vector<FitTree> indexes_of(const std::vector<Alike>& waiting,
                                const ReservationPrices& prices) {
  const PlacementMask& mask = prices.mask();
  std::vector<FitTree> indexes(mask.groups(), FitTree(waiting.size()));
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    for (std::uint32_t type = 0; type < prices.types().size(); ++type) {
      const ShapeOnType& on = prices.on(waiting[i].shape, TypeId{type});
      if (on.fits) indexes[mask.group_of(TypeId{type})].set(i, on.amount);
    }
  }
  for (FitTree& index : indexes) index.build();
  return indexes;
}

/// The group of each shape, those that ask for most first, each in the order of the tasks.
std::vector<Alike> by_request(std::span<const ShapeId> tasks, const ReservationPrices& prices,
                              const RoomGroups& groups, Resource resource) {
  std::map<ShapeId, std::size_t> at;
  std::vector<Alike> waiting;
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    const auto [known, is_new] = at.emplace(tasks[i], waiting.size());
    if (is_new) {
      double request = 0;
      for (std::uint32_t type = 0; type < prices.types().size(); ++type) {
        request = std::max(request, prices.on(tasks[i], TypeId{type}).amount[resource]);
      }
      waiting.push_back({tasks[i], request * groups.per_unit()[resource], {}});
    }
    waiting[known->second].tasks.push_back(i);
  }
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const Alike& a, const Alike& b) { return a.request > b.request; });
  return waiting;
}

}  // namespace

Resource GreedyBuyer::constraining(std::span<const ShapeId> tasks) const {
  Resources sum;
  for (ShapeId shape : tasks) {
    const ReservationPrice& price = prices_.of(shape);
    if (price.fits()) sum += prices_.on(shape, price.type).amount;
  }
  return sum.dominant(groups_.reference());
}

std::vector<GreedyGroup> GreedyBuyer::buy(std::span<const ShapeId> tasks,
                                          MarketChoice markets) const {
  const PricedTypes& types = prices_.types();
  const Resource resource = constraining(tasks);
  std::vector<Alike> waiting = by_request(tasks, prices_, groups_, resource);
  std::vector<FitTree> indexes = indexes_of(waiting, prices_);
  std::vector<std::optional<TypeFill>> fills(types.size());
  std::vector<GreedyGroup> bought;
  while (true) {
    std::optional<RentedAs> best;
    std::tuple<bool, double, double> best_rank;
    for (std::uint32_t i = 0; i < types.size(); ++i) {
      const TypeId type{i};
      const auto present = offers_.of(type, markets);
      const auto offer = present ? present : offers_.of(type, markets, true);
      if (!offer) continue;
      if (!fills[i] || !stands(*fills[i], waiting)) {
        const FitTree& index = indexes[prices_.mask().group_of(type)];
        fills[i] = fill_type(prices_, type, index, {resource, waiting});
      }
      const TypeFill& filled = *fills[i];
      if (filled.taken.empty()) continue;
      const double amount =
          rank_ == GreedyRank::used ? filled.used : types[type].capacity[resource];
      const std::tuple rank{!present, offer->price.usd_h() / std::max(amount, kResourceEpsilon),
                            -groups_.sum_of_shares(types[type].capacity)};
      if (best && rank >= best_rank) continue;
      best = offer;
      best_rank = rank;
    }
    if (!best) return bought;
    const TypeFill best_fill = *fills[best->type.value];
    GreedyGroup& group = bought.emplace_back(GreedyGroup{*best, {}});
    for (const auto& [i, count] : best_fill.taken) {
      Alike& alike = waiting[i];
      const auto first = alike.tasks.begin() + static_cast<std::ptrdiff_t>(alike.next);
      group.tasks.insert(group.tasks.end(), first, first + static_cast<std::ptrdiff_t>(count));
      alike.next += count;
      if (alike.left() > 0) continue;
      for (FitTree& index : indexes) index.drop(i);
    }
  }
}

}  // namespace muster
