#include "schedulers/packing/types/reservation_price.hpp"

#include <algorithm>

// Prices are kept by shape: tasks of an array have one shape, so that a round costs O(new shapes x
// types) here and not O(tasks x types).

namespace muster {
namespace {

bool holds(const InstanceType& type, const FamilyDemand* demand) {
  return demand != nullptr && demand->speed > 0 && demand->amount.fits_in(type.capacity);
}

/// A shape that is priced, with its answers about types where they were worked out before: a
/// constraint is asked once of each type, and not with each price.
struct Asked {
  const Shape& shape;
  const PlacementMask* mask = nullptr;  ///< null: there is no mask
  ShapeId id{};

  bool admits(TypeId type, const InstanceType& row) const {
    return mask != nullptr ? mask->admits(id, type) : shape.constraint.admits(row);
  }
  const FamilyDemand* on(TypeId type, const InstanceType& row) const {
    const FamilyDemand* demand = shape.demands.on(row.family);
    return demand != nullptr && admits(type, row) ? demand : nullptr;
  }
};

/// Amount that the type offers on the markets.
double offered_by(const PricedTypes& types, TypeId type, Resource kind, MarketChoice choice) {
  return types.price(type, choice) ? types[type].capacity[kind] : 0;
}

/// Goes through the kinds of resources and keeps the types that offer enough of each; the first
/// kind of which none of the kept ones has enough is the binding one.
Refusal why_no_type(const Asked& asked_for, const PricedTypes& types, MarketChoice choice) {
  Refusal refusal{RefusalKind::never, RefusalCode::fits_no_type, {}, 0, 0};
  const Demands& demands = asked_for.shape.demands;
  std::vector<TypeId> left;
  bool any_barred = false;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const FamilyDemand* demand = demands.on(types[TypeId{i}].family);
    if (demand == nullptr || demand->speed <= 0) continue;
    const bool admitted = asked_for.admits(TypeId{i}, types[TypeId{i}]);
    any_barred |= !admitted;
    if (admitted) left.push_back(TypeId{i});
  }
  if (left.empty() && any_barred) {
    refusal.code = RefusalCode::constraint;
    return refusal;
  }
  for (Resource kind : kAllResources) {
    TypeId most;
    std::vector<TypeId> enough;
    for (TypeId type : left) {
      const double offered = offered_by(types, type, kind, choice);
      if (!most.valid() || offered > offered_by(types, most, kind, choice)) most = type;
      const double asked = demands.on(types[type].family)->amount[kind];
      if (asked <= offered + kResourceEpsilon) enough.push_back(type);
    }
    if (most.valid() && enough.empty()) {
      refusal.binding = kind;
      refusal.asked = demands.on(types[most].family)->amount[kind];
      refusal.available = offered_by(types, most, kind, choice);
      return refusal;
    }
    left = std::move(enough);
  }
  return refusal;
}

/// Looks at the types that are counted, or at those that are not.
ReservationPrice price_among(const Asked& asked, const PricedTypes& types, MarketChoice choice,
                             bool counted) {
  ReservationPrice best;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const TypeId type{i};
    const std::optional<Price> price = types.price(type, choice);
    if (!price || types.counted(type) != counted) continue;
    const FamilyDemand* demand = asked.on(type, types[type]);
    if (!holds(types[type], demand)) continue;
    // Families run the task at different speeds: the least price an iteration is the cheapest way,
    // not the least price an hour (Eva 4.2).
    const double usd_per_iteration = price->usd_h() / demand->speed;
    if (best.fits() && usd_per_iteration >= best.usd_per_iteration) continue;
    best.type = type;
    best.usd_h = price->usd_h();
    best.usd_per_iteration = usd_per_iteration;
  }
  return best;
}

ReservationPrice price_of(const Asked& asked, const PricedTypes& types, MarketChoice choice) {
  ReservationPrice best = price_among(asked, types, choice, false);
  if (!best.fits()) best = price_among(asked, types, choice, true);
  if (!best.fits()) best.refusal = why_no_type(asked, types, choice);
  return best;
}

}  // namespace

ReservationPrice reservation_price(const Shape& shape, const PricedTypes& types,
                                   MarketChoice choice) {
  return price_of({shape}, types, choice);
}

ReservationPrice reservation_price(const Shape& shape, const Catalog& catalog) {
  return reservation_price(shape, PricedTypes(catalog));
}

void ReservationPrices::learn(const ClusterState& state) {
  mask_.learn(state);
  if (types_.learn(state.offerings(), surcharge_)) {
    // New prices: every shape is priced again, and version_ tells those that keep numbers made of
    // them.
    shapes_.clear();
    ++version_;
  } else if (changes_ == state.shape_changes()) {
    return;
  }
  changes_ = state.shape_changes();
  shapes_.resize(state.shape_count());
  for (std::uint32_t i = 0; i < shapes_.size(); ++i) {
    const ShapeId shape{i};
    const std::uint64_t made = state.shape_made(shape);
    // Shape ids are used again for other shapes; `made` tells them apart.
    if (shapes_[i].made == made) continue;
    shapes_[i] = made == 0 ? Priced{} : priced(shape, state.shape(shape), made);
  }
}

ShapeId ReservationPrices::add(const Shape& asked) {
  const ShapeId shape = mask_.add(asked);
  shapes_.push_back(priced(shape, asked, shapes_.size() + 1));
  return shape;
}

const ReservationPrice& ReservationPrices::of(ShapeId shape, MarketChoice choice) const {
  const Priced& known = shapes_[shape.value];
  if (types_.markets() != MarketChoice::any || choice == MarketChoice::any) return known.price;
  return known.on_market[choice == MarketChoice::spot ? 1 : 0];
}

ReservationPrices::Priced ReservationPrices::priced(ShapeId shape, const Shape& asked,
                                                    std::uint64_t made) const {
  const Asked of_mask{asked, &mask_, shape};
  Priced out{made, price_of(of_mask, types_, MarketChoice::any), {}, {}};
  if (types_.markets() == MarketChoice::any) {
    out.on_market = {price_of(of_mask, types_, MarketChoice::on_demand),
                     price_of(of_mask, types_, MarketChoice::spot)};
  }
  out.on_types.reserve(types_.size());
  for (std::uint32_t i = 0; i < types_.size(); ++i) {
    const InstanceType& type = types_[TypeId{i}];
    ShapeOnType on;
    if (const FamilyDemand* demand = asked.demands.on(type.family)) {
      on.amount = demand->amount;
      // Also where it does not fit: `fits` says so, and speed alone decides the worth.
      on.worth_usd_h = out.price.usd_per_iteration * demand->speed;
      on.fits = types_.offered(TypeId{i}) && mask_.holds(shape, TypeId{i});
    }
    out.on_types.push_back(on);
  }
  return out;
}

}  // namespace muster
