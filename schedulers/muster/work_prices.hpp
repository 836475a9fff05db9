#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/muster/pattern_prices.hpp"
#include "schedulers/muster/piece.hpp"
#include "schedulers/packing/types/reservation_price.hpp"

namespace muster::own {

/// Fair price of an hour of a task's work where its instance is well filled: that of patterns of
/// the tasks that are there, where it is known. Else the cheapest, over the types that hold it, of
/// the type's price times the share of it that the task fills in its most wanted resource, a tenth
/// more for the room that no packing fills: where tasks do not slow each other that comes close to
/// the duals of the optimal packing of a whole trace. Never more than hosting it alone. All are at
/// the speed that the task has on its shape's reservation type.
class WorkPrices {
 public:
  /// On demand, $/h, at least half of the cheapest share. Without end when no type on offer there
  /// holds it.
  double on_demand(ShapeId shape, ClassId cls, const ClusterState& state,
                   const ReservationPrices& prices);
  /// Takes in the tasks of a round, by which patterns have prices.
  void learn(const PatternPrices::Parts& parts) { patterns_.learn(parts); }

 private:
  struct Known {
    std::uint64_t made = 0;  ///< number of its shape, as the state counts them; 0: no shape
    double share_usd_h = 0;
    double alone_usd_h = 0;  ///< no less
  };
  std::uint64_t version_ = 0;  ///< of the reservation prices
  std::vector<Known> shapes_;
  PatternPrices patterns_;
};

/// Work that an interruption undoes.
struct RiskyWork {
  ShapeId shape;
  double lost_h = 0;       ///< by an interruption, besides the time until another instance is there
  double tasks = 1;        ///< of such a shape that stop together, wherever the interrupted one is
  bool may_choose = true;  ///< it need not be there: where too much is undone there is no price

  friend bool operator==(const RiskyWork&, const RiskyWork&) = default;
};

/// On the spot offers among these, $/h, where what interruptions undo is done again: the more
/// instances a gang takes the more often it is stopped.
double work_price_on_spot(const RiskyWork& work, std::span<const Host> offers,
                          const ReservationPrices& prices);

}  // namespace muster::own
