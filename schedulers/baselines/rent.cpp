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
                                        const MarketOffers& offers) const {
  const PricedTypes& types = prices_.types();
  std::optional<RentedAs> best;
  std::tuple<bool, double, double> best_rank;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const TypeId type{i};
    const auto present = offers.of(type, markets);
    const auto offer = present ? present : offers.of(type, markets, true);
    if (!offer || !prices_.on(shape, type).fits) continue;
    const std::tuple rank{!present, rank_of(type, offer->price),
                          groups_.sum_of_shares(types[type].capacity)};
    if (best && rank >= best_rank) continue;
    best_rank = rank;
    best = offer;
  }
  return best;
}

}  // namespace muster
