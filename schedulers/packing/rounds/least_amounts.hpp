#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "schedulers/packing/types/reservation_price.hpp"

namespace muster {

/// The least of each resource that any of some shapes takes on a type. A host without that much has
/// room for no task of theirs, which is one look, however many shapes there are.
class LeastAmounts {
 public:
  /// Both have to outlive it.
  LeastAmounts(const ReservationPrices& prices, std::span<const ShapeId> shapes)
      : prices_(prices), shapes_(shapes), least_(prices.types().size()) {}

  /// Whether one of them may fit beside what is used on a host of the type; false is certain.
  /// O(shapes) for the first host of a type.
  bool may_fit(TypeId type, const Resources& used) {
    std::optional<Resources>& least = least_[type.value];
    if (!least) least = least_on(type);
    return (used + *least).fits_in(prices_.types()[type].capacity);
  }

 private:
  Resources least_on(TypeId type) const {
    std::optional<Resources> least;
    for (const ShapeId id : shapes_) {
      const ShapeOnType& shape = prices_.on(id, type);
      if (!shape.fits) continue;
      if (!least) least = shape.amount;
      for (const Resource kind : kAllResources) {
        (*least)[kind] = std::min((*least)[kind], shape.amount[kind]);
      }
    }
    // Where no shape fits on the type: more than a host of it has.
    if (!least) {
      least.emplace();
      for (const Resource kind : kAllResources) {
        (*least)[kind] = 2 * prices_.types()[type].capacity[kind] + 1;
      }
    }
    return *least;
  }

  const ReservationPrices& prices_;
  std::span<const ShapeId> shapes_;
  std::vector<std::optional<Resources>> least_;  ///< of each type
};

}  // namespace muster
