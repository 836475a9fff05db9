#include "schedulers/packing/priced_types.hpp"

#include <algorithm>
#include <utility>

namespace muster {

PricedTypes::PricedTypes(const Catalog& catalog, Market market)
    : catalog_(&catalog), market_(market) {
  // The catalog's prices first. Their count of changes is forgotten, so that the state's own table
  // is read even where it has the same count.
  learn(OfferingTable(catalog));
  known_.reset();
}

bool PricedTypes::learn(const OfferingTable& offerings) {
  if (std::exchange(known_, offerings.known()) == offerings.known()) return false;
  std::vector<Priced> present;
  present.reserve(catalog_->size());
  for (const InstanceType& type : catalog_->types()) present.push_back({type.on_demand});
  for (const OfferingRow& row : offerings.rows()) {
    // Policies price by type and market: rows of single zones are passed over.
    if (row.key.market != market_ || !row.key.zone.empty()) continue;
    present[row.key.type.value] = {row.price, true};
  }
  // Callers compute everything anew on true; a change of the other market alone is none here.
  if (present == priced_) return false;
  priced_ = std::move(present);
  by_descending_price_.clear();
  for (std::uint32_t i = 0; i < priced_.size(); ++i) {
    if (priced_[i].offered) by_descending_price_.push_back(TypeId{i});
  }
  std::stable_sort(by_descending_price_.begin(), by_descending_price_.end(),
                   [&](TypeId a, TypeId b) { return price(a) > price(b); });
  return true;
}

}  // namespace muster
