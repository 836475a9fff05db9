#include "schedulers/stratus/scaler.hpp"

#include <algorithm>
#include <limits>

#include "model/feasible.hpp"

namespace muster::stratus {
namespace {

/// A pair that was found replaces another: the order of types comes by itself.
bool better(const Candidate& one, const Candidate& other) {
  if (one.score != other.score) return one.score > other.score;
  if (one.tasks != other.tasks) return one.tasks > other.tasks;
  return one.price < other.price;
}

}  // namespace

/// Resources of the smallest type: of types that differ in more than their size the least that any
/// of them has.
const Resources& Scaler::smallest(MarketChoice markets) {
  if (smallest_of_ == markets) return smallest_;
  smallest_of_ = markets;
  smallest_ = {};
  const PricedTypes& types = prices_.types();
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    if (!types.price(TypeId{i}, markets)) continue;
    for (Resource kind : kAllResources) {
      const double has = types[TypeId{i}].capacity[kind];
      if (has > 0 && (smallest_[kind] == 0 || has < smallest_[kind])) smallest_[kind] = has;
    }
  }
  return smallest_;
}

double Scaler::score(const Resources& used, TypeId type, Price price, MarketChoice markets) {
  const Resource constraining = used.dominant(prices_.types()[type].capacity);
  const double unit = smallest(markets)[constraining];
  const double normalized = unit > 0 ? used[constraining] / unit : 0;
  // A type that is free of charge is better than any that is not.
  if (price.usd_h() <= 0) return std::numeric_limits<double>::max();
  return normalized / price.usd_h();
}

void Scaler::open_types(MarketChoice markets, bool resting) {
  const PricedTypes& types = prices_.types();
  open_.clear();
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const auto offer = offers_.of(TypeId{i}, markets, resting);
    if (!offer) continue;
    double at_most = 0;
    for (Resource kind : kAllResources) {
      const double unit = smallest(markets)[kind];
      if (unit > 0) at_most = std::max(at_most, types[offer->type].capacity[kind] / unit);
    }
    const double usd_h = offer->price.usd_h();
    at_most = usd_h > 0 ? at_most / usd_h : std::numeric_limits<double>::max();
    open_.push_back({*offer, at_most, {}});
  }
}

/// Adds up task after task and drops the types that do not hold them any more. `whole`: only all
/// tasks together are a group.
std::optional<Candidate> Scaler::search(std::span<const Item> items, bool whole) {
  std::optional<Candidate> best;
  looked_at_ = 0;
  const MarketChoice markets = items.front().markets;
  const std::size_t bound = most_ == 0 || whole ? items.size() : most_;
  const std::size_t most = std::min(bound, items.size());
  while (looked_at_ < most && !open_.empty()) {
    const Item& item = items[looked_at_++];
    std::erase_if(open_, [&](Open& open) {
      const ShapeOnType& on = prices_.on(item.shape, open.as.type);
      open.used += on.amount;
      // A set that fits exceeds the capacity by rounding at most.
      const bool too_dear = best && open.at_most * (1 + kResourceEpsilon) < best->score;
      return too_dear || !on.fits || !open.used.fits_in(prices_.types()[open.as.type].capacity);
    });
    if (whole && looked_at_ < most) continue;
    for (const Open& open : open_) {
      const Candidate one{.type = open.as.type,
                          .market = open.as.market,
                          .tasks = looked_at_,
                          .score = score(open.used, open.as.type, open.as.price, markets),
                          .price = open.as.price};
      if (!best || better(one, *best)) best = one;
    }
  }
  return best;
}

std::optional<Candidate> Scaler::best(std::span<const Item> items) {
  if (items.empty()) return std::nullopt;
  open_types(items.front().markets, false);
  if (auto found = search(items, false)) return found;
  // The cloud is asked again for what it did not have: it says what the tasks wait for.
  open_types(items.front().markets, true);
  return search(items, false);
}

std::optional<Candidate> Scaler::best_for_all(std::span<const Item> items) {
  if (items.empty()) return std::nullopt;
  open_types(items.front().markets, false);
  return search(items, true);
}

std::vector<Candidate> Scaler::groups(std::span<const Item> items) {
  std::vector<Candidate> groups;
  std::size_t run_end = 0;  // of the equal tasks that the rest begins with
  for (std::size_t at = 0; at < items.size();) {
    while (run_end <= at || (run_end < items.size() && items[run_end].shape == items[at].shape)) {
      ++run_end;
    }
    auto found = best(items.subspan(at));
    if (!found) {
      ++at;
      continue;
    }
    // While a search would see the same tasks again it has the same answer: arrays are placed
    // without one for each instance.
    const std::size_t seen = looked_at_;
    do {
      found->first = at;
      groups.push_back(*found);
      at += found->tasks;
    } while (at + seen <= run_end);
  }
  return groups;
}

}  // namespace muster::stratus
