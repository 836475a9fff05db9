#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "schedulers/packing/rounds/full_reconfiguration.hpp"

// Algorithm 1 of Eva as the paper writes it, without groups or bounds: the definition that
// FullReconfiguration has to agree with, bin by bin.

namespace muster {
namespace {

constexpr std::uint32_t kNoTask = std::numeric_limits<std::uint32_t>::max();

/// Kind by kind in the order of the kinds' first tasks; tasks that are kept apart are kinds by job.
std::vector<std::uint32_t> visiting_order(const PackingTasks& tasks) {
  std::map<std::pair<std::uint32_t, Apart>, std::uint32_t> first_of_kind;
  const auto key = [&](std::uint32_t task) {
    return std::pair(tasks.kind_of[task], tasks.apart(task));
  };
  for (std::uint32_t task = 0; task < tasks.kind_of.size(); ++task) {
    first_of_kind.try_emplace(key(task), task);
  }
  std::vector<std::uint32_t> order(tasks.kind_of.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return first_of_kind.at(key(a)) < first_of_kind.at(key(b));
  });
  return order;
}

struct Fill {
  std::vector<std::uint32_t> tasks;
  InstanceWorth worth;
  Resources used;
};

/// The fill has as many tasks of this one's job as may be together.
bool has_all_peers(const PackingTasks& tasks, const Fill& fill, std::uint32_t task) {
  const Apart apart = tasks.apart(task);
  const auto is_peer = [&](std::uint32_t other) { return tasks.apart(other) == apart; };
  return apart && std::ranges::count_if(fill.tasks, is_peer) >= apart.most;
}

/// The instance of lines 5 to 13 of the algorithm.
Fill fill_one(const PackingTasks& tasks, const WorthModel& model, TypeId type,
              const std::vector<std::uint32_t>& unassigned) {
  const Resources& capacity = model.prices.types()[type].capacity;
  Fill fill;
  fill.worth.clear(model);
  while (true) {
    std::uint32_t best = kNoTask;
    double best_worth = 0;
    for (std::uint32_t task : unassigned) {
      if (std::find(fill.tasks.begin(), fill.tasks.end(), task) != fill.tasks.end()) continue;
      if (has_all_peers(tasks, fill, task)) continue;
      const TaskKind& kind = tasks.kinds[tasks.kind_of[task]];
      const ShapeOnType& shape = model.prices.on(kind.shape, type);
      if (!shape.fits || !(fill.used + shape.amount).fits_in(capacity)) continue;
      const double worth = fill.worth.with(entrant_of(model, kind, type));
      // Strictly more: of equals the one visited first stays.
      if (best == kNoTask || worth > best_worth) best = task, best_worth = worth;
    }
    if (best == kNoTask || best_worth < fill.worth.usd_h()) return fill;
    const TaskKind& kind = tasks.kinds[tasks.kind_of[best]];
    fill.tasks.push_back(best);
    fill.worth.add(entrant_of(model, kind, type));
    fill.used += model.prices.on(kind.shape, type).amount;
  }
}

void add_bin(Configuration& result, TypeId type, const Fill& fill) {
  const auto first = static_cast<std::uint32_t>(result.tasks.size());
  result.bins.push_back(
      {type, first, static_cast<std::uint32_t>(fill.tasks.size()), fill.worth.usd_h()});
  result.tasks.insert(result.tasks.end(), fill.tasks.begin(), fill.tasks.end());
}

}  // namespace

Configuration full_reconfiguration_plain(const PackingTasks& tasks, const WorthModel& model) {
  Configuration result;
  const PricedTypes& types = model.prices.types();
  std::vector<std::uint32_t> unassigned = visiting_order(tasks);
  for (TypeId type : types.by_descending_price()) {
    for (std::uint32_t most = tasks.most(type); most > 0; --most) {
      const Fill fill = fill_one(tasks, model, type, unassigned);
      const double price = types.usd_h(type);
      if (fill.tasks.empty() || fill.worth.usd_h() < price - kWorthEpsilon_usd_h) break;
      add_bin(result, type, fill);
      std::erase_if(unassigned, [&](std::uint32_t task) {
        return std::find(fill.tasks.begin(), fill.tasks.end(), task) != fill.tasks.end();
      });
    }
  }
  for (std::uint32_t task : unassigned) {
    const TaskKind& kind = tasks.kinds[tasks.kind_of[task]];
    const ReservationPrice& price = model.prices.of(kind.shape);
    if (!price.fits()) {
      result.unplaced.push_back(task);
      continue;
    }
    // Worth less than the cheapest type that holds it, and rented nevertheless: it has to run.
    Fill alone{{task}, {}, {}};
    alone.worth.clear(model);
    alone.worth.add(entrant_of(model, kind, price.type));
    add_bin(result, price.type, alone);
  }
  return result;
}

}  // namespace muster
