#include "schedulers/baselines/rent.hpp"

#include <limits>
#include <tuple>

namespace muster {

double CheapestFit::rank_of(TypeId type, Price price) const {
  if (rank_ == PriceRank::instance) return price.usd_h();
  const double cpus = prices_.types()[type].capacity[Resource::cpu];
  return cpus > 0 ? price.usd_h() / cpus : std::numeric_limits<double>::max();
}

std::optional<RentedAs> CheapestFit::of(ShapeId shape, MarketChoice markets,
                                        const std::function<bool(TypeId)>& rests) const {
  const PricedTypes& types = prices_.types();
  std::optional<RentedAs> best;
  std::tuple<bool, double, double> best_rank;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const TypeId type{i};
    const auto price = types.price(type, markets);
    if (!price || !prices_.on(shape, type).fits) continue;
    const std::tuple rank{rests(type), rank_of(type, *price),
                          groups_.sum_of_shares(types[type].capacity)};
    if (best && rank >= best_rank) continue;
    best_rank = rank;
    best = {type, cheapest_market(types, type, markets), *price};
  }
  return best;
}

Market cheapest_market(const PricedTypes& types, TypeId type, MarketChoice markets) {
  if (markets == MarketChoice::any || types.markets() != MarketChoice::any) {
    return types.market_of(type);
  }
  return markets == MarketChoice::spot ? Market::spot : Market::on_demand;
}

}  // namespace muster
