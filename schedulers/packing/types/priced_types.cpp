#include "schedulers/packing/types/priced_types.hpp"

#include <algorithm>
#include <utility>

#include "model/feasible.hpp"

namespace muster {
namespace {

Price sum_of(Price a, Price b) {
  return Price::from_nano_usd_h(a.nano_usd_h() + b.nano_usd_h());
}

}  // namespace

PricedTypes::PricedTypes(const Catalog& catalog, MarketChoice markets)
    : catalog_(&catalog), markets_(markets) {
  // The catalog's prices first. Their count of changes is forgotten, so that the state's own table
  // is read even where it has the same count.
  learn(OfferingTable(catalog));
  known_.reset();
}

bool PricedTypes::learn(const OfferingTable& offerings, Price surcharge) {
  const bool is_known = known_ == offerings.known() && surcharge_ == surcharge;
  known_ = offerings.known();
  surcharge_ = surcharge;
  if (is_known) return false;
  std::vector<Priced> present;
  present.reserve(catalog_->size());
  for (const InstanceType& type : catalog_->types()) {
    present.push_back(
        {.price = sum_of(type.on_demand, surcharge),
         .market = markets_ == MarketChoice::spot ? Market::spot : Market::on_demand});
  }
  for (const OfferingRow& row : offerings.rows()) {
    // Policies price by type and market: rows of single zones are passed over.
    if (!wants(markets_, row.key.market) || !row.key.zone.empty()) continue;
    Priced& priced = present[row.key.type.value];
    const Price price = sum_of(row.price, surcharge);
    priced.on[static_cast<std::size_t>(row.key.market)] = price;
    priced.counted = row.free.has_value() && (priced.counted || !priced.offered);
    // Rows of a type on demand come before those on the spot market.
    if (priced.offered && priced.price <= price) continue;
    priced.price = price;
    priced.market = row.key.market;
    priced.offered = true;
  }
  // Callers compute everything anew on true; a change of the other market alone does not count.
  if (present == priced_) return false;
  priced_ = std::move(present);
  any_uncounted_ = std::any_of(priced_.begin(), priced_.end(), [](const Priced& priced) {
    return priced.offered && !priced.counted;
  });
  by_descending_price_.clear();
  for (std::uint32_t i = 0; i < priced_.size(); ++i) {
    if (priced_[i].offered) by_descending_price_.push_back(TypeId{i});
  }
  std::stable_sort(by_descending_price_.begin(), by_descending_price_.end(),
                   [&](TypeId a, TypeId b) {
                     return counted(a) != counted(b) ? counted(a) : price(a) > price(b);
                   });
  return true;
}

std::optional<Price> PricedTypes::price(TypeId type, Market market) const {
  return priced_[type.value].on[static_cast<std::size_t>(market)];
}

std::optional<Price> PricedTypes::price(TypeId type, MarketChoice choice) const {
  const Priced& priced = priced_[type.value];
  if (markets_ != MarketChoice::any || choice == MarketChoice::any) {
    return priced.offered ? std::optional(priced.price) : std::nullopt;
  }
  return price(type, choice == MarketChoice::spot ? Market::spot : Market::on_demand);
}

}  // namespace muster
