#include "schedulers/baselines/greedy_buyer.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

// Equal tasks are counted, not listed: a fill takes as many of a shape as fit at once. So it costs
// the number of shapes that wait, and not that of tasks.

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
  std::vector<std::pair<std::size_t, std::size_t>> taken;  ///< of a group of alike tasks, so many
  double used = 0;                                         ///< of the constraining resource
};

TypeFill fill_type(const ReservationPrices& prices, TypeId type, Resource resource,
                   const std::vector<Alike>& waiting) {
  TypeFill filled;
  Resources room = prices.types()[type].capacity;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const ShapeOnType& on = prices.on(waiting[i].shape, type);
    if (!on.fits || waiting[i].left() == 0) continue;
    const std::size_t count = fitting(on.amount, room, waiting[i].left());
    if (count == 0) continue;
    for (std::size_t n = 0; n < count; ++n) room -= on.amount;
    filled.used += static_cast<double>(count) * on.amount[resource];
    filled.taken.emplace_back(i, count);
  }
  return filled;
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
  std::vector<GreedyGroup> bought;
  while (true) {
    std::optional<RentedAs> best;
    std::tuple<bool, double, double> best_rank;
    TypeFill best_fill;
    for (std::uint32_t i = 0; i < types.size(); ++i) {
      const TypeId type{i};
      const auto present = offers_.of(type, markets);
      const auto offer = present ? present : offers_.of(type, markets, true);
      if (!offer) continue;
      TypeFill filled = fill_type(prices_, type, resource, waiting);
      if (filled.taken.empty()) continue;
      const double amount =
          rank_ == GreedyRank::used ? filled.used : types[type].capacity[resource];
      const std::tuple rank{!present, offer->price.usd_h() / std::max(amount, kResourceEpsilon),
                            -groups_.sum_of_shares(types[type].capacity)};
      if (best && rank >= best_rank) continue;
      best = offer;
      best_rank = rank;
      best_fill = std::move(filled);
    }
    if (!best) return bought;
    GreedyGroup& group = bought.emplace_back(GreedyGroup{*best, {}});
    for (const auto& [i, count] : best_fill.taken) {
      Alike& alike = waiting[i];
      const auto first = alike.tasks.begin() + static_cast<std::ptrdiff_t>(alike.next);
      group.tasks.insert(group.tasks.end(), first, first + static_cast<std::ptrdiff_t>(count));
      alike.next += count;
    }
    std::erase_if(waiting, [](const Alike& alike) { return alike.left() == 0; });
  }
}

}  // namespace muster
