#pragma once

#include <cstdint>
#include <optional>

#include "schedulers/packing/index/open_rooms.hpp"
#include "schedulers/packing/types/market_offers.hpp"
#include "schedulers/packing/types/reservation_price.hpp"

namespace muster {

/// By what the cheapest type is found.
enum class PriceRank : std::uint8_t {
  instance,  ///< the price of the instance
  cpu        ///< the same over its cpus
};

/// Finds the cheapest type that holds one task. Ties: the smaller type, then the catalog's order.
class CheapestFit {
 public:
  CheapestFit(const ReservationPrices& prices, const RoomGroups& groups, PriceRank rank)
      : prices_(prices), groups_(groups), rank_(rank) {}

  /// On a market of the choice. An offering that rests at the cloud is chosen when nothing else
  /// holds the task. Nothing: no type on offer there does.
  std::optional<RentedAs> of(ShapeId shape, MarketChoice markets, const MarketOffers& offers) const;

 private:
  double rank_of(TypeId type, Price price) const;

  const ReservationPrices& prices_;
  const RoomGroups& groups_;
  PriceRank rank_;
};

}  // namespace muster
