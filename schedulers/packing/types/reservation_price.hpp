#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/catalog.hpp"
#include "model/cluster_state.hpp"
#include "model/constraint.hpp"
#include "model/refusal.hpp"
#include "schedulers/packing/types/placement_mask.hpp"
#include "schedulers/packing/types/priced_types.hpp"

namespace muster {

/// Worth of a task: the price of hosting it alone in the cheapest way (Eva 4.2). Where families
/// differ in speed the cheapest way is the one with the least cost an iteration. Types whose
/// machines are counted beside others (`PricedTypes::counted`) are no way where another one is.
struct ReservationPrice {
  TypeId type;                   ///< the cheapest way; invalid when no type holds the task
  double usd_h = 0;              ///< price of that type
  double usd_per_iteration = 0;  ///< in units of hours of work at speed 1
  Refusal refusal;               ///< why no type holds it; only when `type` is invalid

  bool fits() const { return type.valid(); }
};

/// Looks at all types on offer on the markets of the choice; the first one in the catalog's order
/// wins a tie.
ReservationPrice reservation_price(const Shape& shape, const PricedTypes& types,
                                   MarketChoice choice = MarketChoice::any);
/// Likewise, at the catalog's prices on demand.
ReservationPrice reservation_price(const Shape& shape, const Catalog& catalog);

/// A demand shape on one instance type.
struct ShapeOnType {
  Resources amount;
  double worth_usd_h = 0;  ///< reservation price an iteration x speed on the type's family
  bool fits = false;       ///< the mask allows it, and the type is on offer
};

/// Reservation prices of all shapes of a cluster state on one market or on both, computed once a
/// shape and kept as long as a task has it and no price changes.
class ReservationPrices {
 public:
  explicit ReservationPrices(const Catalog& catalog, MarketChoice markets = MarketChoice::on_demand)
      : types_(catalog, markets), mask_(catalog) {}

  /// Takes in the present prices, computes what is missing for the state's shapes, and drops what
  /// no task has any more.
  void learn(const ClusterState& state);
  /// Adds the surcharge to the price of each type, from the next learn() on.
  void set_surcharge(Price surcharge) { surcharge_ = surcharge; }
  /// Computes the prices of one more shape, where there is no state; its id is the number of shapes
  /// before it.
  ShapeId add(const Shape& asked);

  const ReservationPrice& of(ShapeId shape) const { return shapes_[shape.value].price; }
  /// Likewise, for tasks that run on the markets of the choice only. Where one market is looked at
  /// everybody runs there.
  const ReservationPrice& of(ShapeId shape, MarketChoice choice) const;
  const ShapeOnType& on(ShapeId shape, TypeId type) const {
    return shapes_[shape.value].on_types[type.value];
  }
  const PricedTypes& types() const { return types_; }
  /// On which instances tasks of these shapes may be, whatever is on offer.
  const PlacementMask& mask() const { return mask_; }
  /// Rises whenever all of it was computed anew.
  std::uint64_t version() const { return version_; }

 private:
  struct Priced {
    std::uint64_t made = 0;  ///< number of its shape, as the state counts them; 0: no shape
    ReservationPrice price;
    std::array<ReservationPrice, 2> on_market;  ///< where both markets are looked at
    std::vector<ShapeOnType> on_types;
  };
  Priced priced(ShapeId shape, const Shape& asked, std::uint64_t made) const;

  PricedTypes types_;
  PlacementMask mask_;
  Price surcharge_;
  std::uint64_t version_ = 0;
  std::vector<Priced> shapes_;
  std::uint64_t changes_ = 0;  ///< of the state's shapes that are known
};

}  // namespace muster
