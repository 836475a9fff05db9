#include "schedulers/packing/reservation_price.hpp"

#include <algorithm>

namespace muster {
namespace {

bool holds(const InstanceType& type, const Demands& demands) {
  const FamilyDemand* demand = demands.on(type.family);
  return demand != nullptr && demand->speed > 0 && demand->amount.fits_in(type.capacity);
}

/// Goes through the kinds of resources and keeps the types that offer enough of each; the first
/// kind of which none of the kept ones has enough is the binding one.
Refusal why_no_type(const Demands& demands, const Catalog& catalog) {
  Refusal refusal{RefusalKind::never, RefusalCode::fits_no_type, {}, 0, 0};
  std::vector<const InstanceType*> left;
  for (const InstanceType& type : catalog.types()) {
    const FamilyDemand* demand = demands.on(type.family);
    if (demand != nullptr && demand->speed > 0) left.push_back(&type);
  }
  for (Resource kind : kAllResources) {
    const InstanceType* most = nullptr;
    std::vector<const InstanceType*> enough;
    for (const InstanceType* type : left) {
      if (most == nullptr || type->capacity[kind] > most->capacity[kind]) most = type;
      const double asked = demands.on(type->family)->amount[kind];
      if (asked <= type->capacity[kind] + kResourceEpsilon) enough.push_back(type);
    }
    if (most != nullptr && enough.empty()) {
      refusal.binding = kind;
      refusal.asked = demands.on(most->family)->amount[kind];
      refusal.available = most->capacity[kind];
      return refusal;
    }
    left = std::move(enough);
  }
  return refusal;
}

}  // namespace

ReservationPrice reservation_price(const Demands& demands, const Catalog& catalog) {
  ReservationPrice best;
  for (std::uint32_t i = 0; i < catalog.size(); ++i) {
    const InstanceType& type = catalog[TypeId{i}];
    if (!holds(type, demands)) continue;
    const double usd_per_iteration = type.on_demand.usd_h() / demands.on(type.family)->speed;
    if (best.fits() && usd_per_iteration >= best.usd_per_iteration) continue;
    best.type = TypeId{i};
    best.usd_h = type.on_demand.usd_h();
    best.usd_per_iteration = usd_per_iteration;
  }
  if (!best.fits()) best.refusal = why_no_type(demands, catalog);
  return best;
}

void ReservationPrices::learn(const ClusterState& state) {
  if (changes_ == state.shape_changes()) return;
  changes_ = state.shape_changes();
  shapes_.resize(state.shape_count());
  for (std::uint32_t i = 0; i < shapes_.size(); ++i) {
    const std::uint64_t made = state.shape_made(ShapeId{i});
    if (shapes_[i].made == made) continue;
    shapes_[i] = made == 0 ? Priced{} : priced(state.shape(ShapeId{i}), made);
  }
}

ShapeId ReservationPrices::add(const Demands& demands) {
  shapes_.push_back(priced(demands, shapes_.size() + 1));
  return ShapeId{static_cast<std::uint32_t>(shapes_.size() - 1)};
}

ReservationPrices::Priced ReservationPrices::priced(const Demands& demands,
                                                    std::uint64_t made) const {
  Priced out{made, reservation_price(demands, *catalog_), {}};
  out.on_types.reserve(catalog_->size());
  for (const InstanceType& type : catalog_->types()) {
    ShapeOnType on;
    if (const FamilyDemand* demand = demands.on(type.family)) {
      on.amount = demand->amount;
      on.worth_usd_h = out.price.usd_per_iteration * demand->speed;
      on.fits = holds(type, demands);
    }
    out.on_types.push_back(on);
  }
  return out;
}

}  // namespace muster
