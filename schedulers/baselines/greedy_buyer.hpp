#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/baselines/rent.hpp"

namespace muster {

/// By what SuperCloud's greedy chooses a type.
enum class GreedyRank : std::uint8_t {
  used,     ///< the price of a unit of the constraining resource that its tasks take
  capacity  ///< the price of a unit that it has
};

/// An instance to buy, and who is to be on it: positions in the list of tasks.
struct GreedyGroup {
  RentedAs as;
  std::vector<std::uint32_t> tasks;
};

/// SuperCloud's greedy for a list of tasks whose jobs have one choice of markets: of the resource
/// that all together need most of (against the largest type), each type is filled with the tasks
/// that need most of it first; the type at which a unit is cheapest is bought with its tasks, and
/// so on with the rest. Ties: the larger type. Tasks that no type holds are left out.
class GreedyBuyer {
 public:
  GreedyBuyer(const ReservationPrices& prices, const RoomGroups& groups, GreedyRank rank,
              const MarketOffers& offers)
      : prices_(prices), groups_(groups), rank_(rank), offers_(offers) {}

  std::vector<GreedyGroup> buy(std::span<const ShapeId> tasks, MarketChoice markets) const;
  /// The resource that the tasks together need most of.
  Resource constraining(std::span<const ShapeId> tasks) const;

 private:
  const ReservationPrices& prices_;
  const RoomGroups& groups_;
  GreedyRank rank_;
  const MarketOffers& offers_;
};

}  // namespace muster
