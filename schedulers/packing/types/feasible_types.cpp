#include "schedulers/packing/types/feasible_types.hpp"

#include <algorithm>
#include <utility>

#include "schedulers/packing/types/reservation_price.hpp"

namespace muster {

FeasibleTypes::FeasibleTypes(const Catalog& catalog)
    : catalog_(&catalog),
      priced_{PricedTypes(catalog, MarketChoice::on_demand),
              PricedTypes(catalog, MarketChoice::spot)},
      mask_(catalog) {
  list_offered();
  derive();
}

void FeasibleTypes::learn(const ClusterState& state) {
  const std::uint64_t before = mask_.grouping();
  mask_.learn(state);
  // Types of other groups do not cover each other.
  if (mask_.grouping() != before) derive();
}

void FeasibleTypes::list_offered() {
  for (Market market : kMarkets) {
    std::vector<TypeId>& types = by_price_[index_of(market)];
    types.clear();
    for (std::uint32_t i = 0; i < catalog_->size(); ++i) {
      if (priced_[index_of(market)].offered(TypeId{i})) types.push_back(TypeId{i});
    }
  }
}

bool FeasibleTypes::lacks(const Offering& offering) const {
  const auto type = catalog_->find(offering.type);
  return type && offering.zone.empty() && !priced_[index_of(offering.market)].offered(*type);
}

void FeasibleTypes::reprice(const OfferingTable& offerings) {
  bool changed = false;
  for (PricedTypes& types : priced_) changed |= types.learn(offerings);
  if (!changed) return;
  const std::size_t before = by_price_[0].size() + by_price_[1].size();
  if (!of_fleet_) list_offered();
  const std::size_t now = by_price_[0].size() + by_price_[1].size();
  // Rows of offerings are never removed: an equal number means equal types, and prices alone leave
  // capacities, and with them reference_ and largest_, as they are.
  now == before ? sort_by_price() : derive();
}

void FeasibleTypes::begin_fleet() {
  of_fleet_ = true;
  for (std::vector<TypeId>& types : by_price_) types.clear();
  derive();
}

bool FeasibleTypes::add_to_fleet(TypeId type, Market market) {
  std::vector<TypeId>& types = by_price_[index_of(market)];
  if (std::find(types.begin(), types.end(), type) != types.end()) return false;
  types.push_back(type);
  derive();
  return true;
}

void FeasibleTypes::sort_by_price() {
  for (Market market : kMarkets) {
    const PricedTypes& priced = priced_[index_of(market)];
    const auto cheaper = [&](TypeId a, TypeId b) {
      return priced.price(a) != priced.price(b) ? priced.price(a) < priced.price(b) : a < b;
    };
    for (auto* types : {&by_price_[index_of(market)], &largest_[index_of(market)]}) {
      std::sort(types->begin(), types->end(), cheaper);
    }
  }
}

void FeasibleTypes::derive() {
  sort_by_price();
  reference_ = {};
  for (Market market : kMarkets) {
    const std::vector<TypeId>& types = by_price_[index_of(market)];
    largest_[index_of(market)].clear();
    for (TypeId type : types) {
      reference_ = most_of(reference_, (*catalog_)[type].capacity);
      if (!covered(type, types)) largest_[index_of(market)].push_back(type);
    }
  }
}

bool FeasibleTypes::covered(TypeId one, const std::vector<TypeId>& others) const {
  const Resources& capacity = (*catalog_)[one].capacity;
  return std::any_of(others.begin(), others.end(), [&](TypeId other) {
    const Resources& more = (*catalog_)[other].capacity;
    if (other == one || group_of(other) != group_of(one)) return false;
    if (most_of(capacity, more) != more) return false;
    // Of equal capacities the first in the catalog stays in the list, so that twins do not cover
    // each other away.
    return capacity != more || other < one;
  });
}

std::optional<Resources> FeasibleTypes::together(Shapes shapes, std::uint32_t group) const {
  Resources sum;
  for (ShapeId shape : shapes) {
    const std::optional<Resources>& amount = mask_.on_group(shape, group);
    if (!amount) return std::nullopt;
    sum += *amount;
  }
  return sum;
}

bool FeasibleTypes::hold(Market market, Shapes shapes) const {
  // Tasks that fit a covered type fit the one that covers it: they are of one group.
  const std::vector<TypeId>& types = largest_[index_of(market)];
  return std::any_of(types.begin(), types.end(), [&](TypeId type) {
    const std::optional<Resources> sum = together(shapes, group_of(type));
    return sum && sum->fits_in((*catalog_)[type].capacity);
  });
}

std::optional<TypeId> FeasibleTypes::cheapest(Market market, Shapes shapes) const {
  for (TypeId type : by_price_[index_of(market)]) {
    const std::optional<Resources> sum = together(shapes, group_of(type));
    if (sum && sum->fits_in((*catalog_)[type].capacity)) return type;
  }
  return std::nullopt;
}

PackLimits FeasibleTypes::limits(Market market) const {
  PackLimits limits;
  for (TypeId type : largest_[index_of(market)]) {
    limits.push_back(normalised((*catalog_)[type].capacity, reference_));
  }
  return limits;
}

Refusal FeasibleTypes::why_never(Market market, const Shape& shape) const {
  std::vector<InstanceType> types;
  // Only this market's types are asked, so that the numbers of the refusal are those of the queue
  // in which the task waits.
  for (TypeId type : by_price_[index_of(market)]) types.push_back((*catalog_)[type]);
  return reservation_price(shape, Catalog(std::move(types))).refusal;
}

}  // namespace muster
