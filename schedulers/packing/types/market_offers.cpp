#include "schedulers/packing/types/market_offers.hpp"

#include "model/feasible.hpp"
#include "schedulers/packing/types/feasible_types.hpp"

namespace muster {

MarketOffers::MarketOffers(const PricedTypes& types, const Rests& rests) : types_(&types) {
  rests_.reserve(types.size());
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    rests_.push_back({rests(TypeId{i}, Market::on_demand), rests(TypeId{i}, Market::spot)});
  }
}

std::optional<RentedAs> MarketOffers::of(TypeId type, MarketChoice markets, bool resting) const {
  std::optional<RentedAs> best;
  for (Market market : kMarkets) {
    const std::optional<Price> price = types_->price(type, market);
    if (!wants(markets, market) || !price) continue;
    if (!resting && rests(type, market)) continue;
    if (!best || *price < best->price) best = {type, market, *price};
  }
  return best;
}

}  // namespace muster
