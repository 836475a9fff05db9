#pragma once

#include <cstdint>

#include "model/catalog.hpp"
#include "model/event.hpp"
#include "model/offering_table.hpp"
#include "model/price_steps.hpp"

namespace muster::metrics {

/// Price of an instance of a log, by its launch and the changes of prices after it.
struct RentedPrice {
  RentedPrice() = default;
  RentedPrice(const LaunchRequested& launch, std::uint32_t by_cell)
      : key{launch.type, launch.market, launch.zone}, cell(by_cell), now(launch.price) {}

  OfferingKey key;
  std::uint32_t cell = 0;  ///< whose it is: each master of a log tells of the changes itself
  Price now;
  PriceSteps earlier{};

  /// The event, of an OfferingChanged, gives it another price.
  bool is_changed_by(const Event& event, const Catalog& catalog) const {
    const Offering& changed = std::get<OfferingChanged>(event.body).change.offering;
    return event.cell == cell && changed.market == key.market && changed.zone == key.zone &&
           changed.price != now && changed.type == catalog[key.type].name;
  }
  /// When the new price begins to count, by the cloud's clock.
  Instant change(const OfferingChange& to) {
    const Instant from = start_of_price(earlier, to.at);
    earlier.push_back({from, now});
    now = to.offering.price;
    return from;
  }
  /// Charge for [from, until).
  Money charge(Instant from, Instant until) const {
    return muster::charge(earlier, now, from, until);
  }
};

}  // namespace muster::metrics
