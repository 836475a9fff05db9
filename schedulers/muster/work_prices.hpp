#pragma once

#include <cstdint>
#include <vector>

#include "schedulers/packing/reservation_price.hpp"

namespace muster::own {

/// What an hour of a task's work should cost where its instance is well filled: the cheapest, over
/// the types that hold it, of the type's price times the share of it that the task fills in its
/// most wanted resource, a tenth more for the room that no packing fills, and never more than
/// hosting it alone. Such prices come close to the duals of the optimal packing of a whole trace,
/// and need neither.
class WorkPrices {
 public:
  /// $/h at the speed that the task has on its reservation type.
  double of(ShapeId shape, const ClusterState& state, const ReservationPrices& prices);

 private:
  struct Known {
    std::uint64_t made = 0;  ///< which shape it was, as the state counts them; 0: none
    double usd_h = 0;
  };
  std::uint64_t version_ = 0;  ///< of the reservation prices
  std::vector<Known> shapes_;
};

}  // namespace muster::own
