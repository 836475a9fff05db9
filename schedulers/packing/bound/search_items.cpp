#include "schedulers/packing/bound/search_items.hpp"

#include <algorithm>
#include <limits>

#include "schedulers/packing/bound/covering_lp.hpp"

namespace muster::bound {
namespace {

bool dominates(const SearchItem& a, const SearchItem& b) {
  if (a.most > 0 || a.cls != b.cls || a.value_usd_h < b.value_usd_h) return false;
  for (std::size_t i = 0; i < kResourceKinds; ++i) {
    if (a.amount[i] > b.amount[i]) return false;
  }
  return true;
}

std::vector<SearchItem> without_dominated(std::vector<SearchItem> items) {
  std::stable_sort(items.begin(), items.end(), [](const SearchItem& a, const SearchItem& b) {
    return a.value_usd_h > b.value_usd_h;
  });
  std::vector<SearchItem> kept;
  for (const SearchItem& item : items) {
    // Of two that are equal the first one stays; a later one never beats one that was kept, unless
    // it is worth as much and smaller, which costs time alone.
    const bool beaten = std::any_of(
        kept.begin(), kept.end(), [&](const SearchItem& other) { return dominates(other, item); });
    if (!beaten) kept.push_back(item);
  }
  return kept;
}

/// As many tasks as fit when all are as small as the smallest, in the resource that allows least.
std::uint32_t most_tasks(const SearchItems& all) {
  double most = 1e6;
  for (std::size_t i = 0; i < kResourceKinds; ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (const SearchItem& item : all.items) least = std::min(least, item.amount[i]);
    if (least > 0) most = std::min(most, all.capacity[i] / least);
  }
  return all.items.empty() ? 0 : static_cast<std::uint32_t>(most);
}

}  // namespace

bool SearchItems::slows() const {
  for (std::uint32_t a = 0; a < rates.classes(); ++a) {
    for (std::uint32_t b = 0; b < rates.classes(); ++b) {
      if (rates.at(a, b) < 1) return true;
    }
  }
  return false;
}

SearchItems search_items(const FluidProblem& problem, std::uint32_t type,
                         const std::vector<double>& usd_per_work_h) {
  SearchItems all;
  const FluidType& on = problem.types[type];
  for (std::size_t i = 0; i < kResourceKinds; ++i) {
    all.capacity[i] = on.capacity.amounts()[i] + kRoomForRounding;
  }
  std::vector<std::uint32_t> classes;
  for (std::uint32_t kind = 0; kind < problem.kinds.size(); ++kind) {
    const OnType& there = problem.kinds[kind].on[type];
    const double value = usd_per_work_h[kind] * there.speed;
    if (value <= 0 || !there.amount.fits_in(on.capacity)) continue;
    const FluidKind& of = problem.kinds[kind];
    all.items.push_back({kind, of.cls, value, of.most, there.amount.amounts()});
  }
  all.items = without_dominated(std::move(all.items));
  for (SearchItem& item : all.items) {
    const auto found = std::find(classes.begin(), classes.end(), item.cls);
    const auto position = static_cast<std::uint32_t>(found - classes.begin());
    if (found == classes.end()) classes.push_back(item.cls);
    item.cls = position;
  }
  all.rates = PairTable(static_cast<std::uint32_t>(classes.size()));
  for (std::uint32_t a = 0; a < classes.size(); ++a) {
    for (std::uint32_t b = 0; b < classes.size(); ++b) {
      all.rates.set(a, b, problem.rates.at(classes[a], classes[b]));
    }
  }
  all.most_tasks = most_tasks(all);
  return all;
}

std::array<double, kResourceKinds> resource_prices(const SearchItems& items,
                                                   const std::vector<double>& factor,
                                                   std::uint32_t tasks) {
  std::vector<double> values;
  for (const SearchItem& item : items.items) {
    values.push_back(item.value_usd_h * factor[item.cls]);
  }
  CoveringLp lp(values);
  std::vector<std::size_t> priced;
  std::vector<LpEntry> column;
  for (std::size_t i = 0; i < kResourceKinds; ++i) {
    column.clear();
    for (std::uint32_t row = 0; row < items.items.size(); ++row) {
      if (items.items[row].amount[i] > 0) column.push_back({row, items.items[row].amount[i]});
    }
    // A resource that no item takes is worth nothing.
    if (column.empty()) continue;
    priced.push_back(i);
    lp.add_column(items.capacity[i], column);
  }
  if (tasks > 0) {
    column.clear();
    for (std::uint32_t row = 0; row < items.items.size(); ++row) column.push_back({row, 1});
    lp.add_column(tasks, column);
  }
  const LpSolution solution = lp.solve();
  std::array<double, kResourceKinds> prices{};
  for (std::size_t i = 0; i < priced.size(); ++i) prices[priced[i]] = solution.activity[i];
  return prices;
}

}  // namespace muster::bound
