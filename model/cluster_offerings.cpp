// The part of a state that knows what its instances are of, what they cost, and what can be rented.

#include <algorithm>

#include "model/cluster_state.hpp"

namespace muster {

std::vector<Slot> ClusterState::repriced_by(const OfferingChange& change) const {
  std::vector<Slot> slots;
  const auto type = catalog_->find(change.offering.type);
  if (!type) return slots;
  const auto found = by_offering_.find({*type, change.offering.market, change.offering.zone});
  if (found == by_offering_.end()) return slots;
  // Of most changes the news is how many instances are free.
  const OfferingRow* known = offerings_.find(found->first);
  const bool at_other_price = known == nullptr || known->price != change.offering.price;
  if (!at_other_price && found->second.otherwise == 0) return slots;
  for (Slot slot = found->second.rows.first(); slot != kNoSlot;
       slot = instances_[slot].same_offering.next) {
    if (instances_[slot].price != change.offering.price) slots.push_back(slot);
  }
  return slots;
}

void ClusterState::change_offering(const OfferingChange& change) {
  // Nothing changes, which the table says from now on.
  if (!is_news(change)) return offerings_.apply(change, *catalog_, 0);
  const std::vector<Slot> repriced = repriced_by(change);
  for (Slot slot : repriced) {
    InstanceRow& row = instances_[slot];
    // Taken out at the old price and counted again at the new one.
    uncount_instance(row);
    PriceSteps& earlier = row.earlier_prices;
    earlier.push_back({start_of_price(earlier, change.at), row.price});
    if (earlier.size() > kEarlierPrices) earlier.erase(earlier.begin());
    row.price = change.offering.price;
    count_instance(row);
  }
  const auto type = catalog_->find(change.offering.type);
  if (type) {
    const auto found = by_offering_.find({*type, change.offering.market, change.offering.zone});
    if (found != by_offering_.end()) found->second.otherwise = 0;
  }
  const std::uint32_t had = type ? sums_.count(*type, change.offering.market) : 0;
  offerings_.apply(change, *catalog_, had, !repriced.empty());
}

std::optional<std::uint32_t> left_of(const ClusterState& state, const OfferingRow& offering) {
  if (!offering.free) return std::nullopt;
  const std::uint32_t now = state.sums().count(offering.key.type, offering.key.market);
  const std::uint32_t more = now - std::min(now, offering.had);
  return *offering.free - std::min(*offering.free, more);
}

void ClusterState::count_instance(const InstanceRow& row) {
  const std::size_t offer = FleetSums::position(row.type, row.market);
  if (offer >= sums_.by_offer.size()) sums_.by_offer.resize(offer + 1);
  ++sums_.by_offer[offer];
  sums_.nano_usd_h += row.price.nano_usd_h();
  if (row.up) sums_.up_nano_usd_h += row.price.nano_usd_h();
  const Resources& capacity = (*catalog_)[row.type].capacity;
  sums_.capacity += capacity;
  if (!row.released) sums_.open_capacity += capacity;
}

void ClusterState::uncount_instance(const InstanceRow& row) {
  --sums_.by_offer[FleetSums::position(row.type, row.market)];
  sums_.nano_usd_h -= row.price.nano_usd_h();
  if (row.up) sums_.up_nano_usd_h -= row.price.nano_usd_h();
  const Resources& capacity = (*catalog_)[row.type].capacity;
  sums_.capacity -= capacity;
  if (!row.released) sums_.open_capacity -= capacity;
}

bool ClusterState::is_priced_otherwise(const InstanceRow& row) const {
  const OfferingRow* known = offerings_.find(row.offering());
  return known == nullptr || known->price != row.price;
}

void ClusterState::list_instance(Slot slot) {
  OfOffering& of = by_offering_[instances_[slot].offering()];
  of.rows.append(instances_, slot);
  of.otherwise += is_priced_otherwise(instances_[slot]);
}

void ClusterState::unlist_instance(Slot slot) {
  const auto found = by_offering_.find(instances_[slot].offering());
  found->second.rows.remove(instances_, slot);
  found->second.otherwise -= is_priced_otherwise(instances_[slot]);
  if (found->second.rows.size() == 0) by_offering_.erase(found);
}

}  // namespace muster
