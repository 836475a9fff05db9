#include "schedulers/muster/work_prices.hpp"

#include <algorithm>

namespace muster::own {
namespace {

/// What of a well-filled instance stays empty all the same, on top of what is used.
constexpr double kFragmentation = 1.1;

double price_of_share(ShapeId shape, const ReservationPrices& prices) {
  const ReservationPrice& alone = prices.of(shape);
  double least = alone.usd_h;
  for (std::uint32_t i = 0; i < prices.types().size(); ++i) {
    const TypeId type{i};
    const ShapeOnType& on = prices.on(shape, type);
    if (!on.fits || !prices.types().offered(type) || on.worth_usd_h <= 0) continue;
    const double share = on.amount.dominant_share(prices.types()[type].capacity);
    const double speed = on.worth_usd_h / alone.usd_h;  // relative to the reservation type
    least = std::min(least, kFragmentation * prices.types().usd_h(type) * share / speed);
  }
  return least;
}

}  // namespace

double WorkPrices::of(ShapeId shape, const ClusterState& state, const ReservationPrices& prices) {
  if (version_ != prices.version()) {
    shapes_.clear();
    version_ = prices.version();
  }
  if (shape.value >= shapes_.size()) shapes_.resize(shape.value + std::size_t{1});
  Known& known = shapes_[shape.value];
  if (known.made != state.shape_made(shape)) {
    known = {state.shape_made(shape), price_of_share(shape, prices)};
  }
  return known.usd_h;
}

}  // namespace muster::own
