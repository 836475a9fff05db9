#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/cluster_state.hpp"
#include "schedulers/packing/complementary.hpp"
#include "schedulers/packing/types/placement_mask.hpp"
#include "schedulers/packing/types/priced_types.hpp"

namespace muster {

inline constexpr std::array<Market, 2> kMarkets = {Market::on_demand, Market::spot};
/// Its place in kMarkets.
constexpr std::size_t index_of(Market market) {
  return static_cast<std::size_t>(market);
}

/// The demands of tasks that are to share an instance.
using Shapes = std::span<const ShapeId>;

/// Which types there are on which market, and what demands are on them: of an elastic cluster what
/// is on offer, of a fixed fleet what it has had.
class FeasibleTypes {
 public:
  explicit FeasibleTypes(const Catalog& catalog);

  /// The offering is of a type that is not known to be on that market.
  bool lacks(const Offering& offering) const;
  /// Takes in the present prices, and the types that are on offer.
  void reprice(const OfferingTable& offerings);
  /// From now on only what is added with add_to_fleet is there.
  void begin_fleet();
  bool of_fleet() const { return of_fleet_; }
  /// True when it was not there before.
  bool add_to_fleet(TypeId type, Market market);
  /// The types on the market, the cheapest first.
  const std::vector<TypeId>& types(Market market) const { return by_price_[index_of(market)]; }
  /// Takes in the demands and constraints that the state has seen since.
  void learn(const ClusterState& state);

  const PlacementMask& mask() const { return mask_; }
  /// The groups of types (PlacementMask).
  std::uint32_t group_of(TypeId type) const { return mask_.group_of(type); }
  std::uint32_t groups() const { return mask_.groups(); }
  std::uint64_t grouping() const { return mask_.grouping(); }
  const Catalog& catalog() const { return *catalog_; }

  bool any() const { return !by_price_[0].empty() || !by_price_[1].empty(); }
  /// The largest capacity of every kind of resource.
  const Resources& reference() const { return reference_; }
  /// Least demand of a task, wherever it runs.
  const Resources& least(ShapeId shape) const { return mask_.least(shape); }
  /// Demand of the tasks together on types of the group; nothing when one of them may not be there.
  std::optional<Resources> together(Shapes shapes, std::uint32_t group) const;
  /// Some type on the market holds them together.
  bool hold(Market market, Shapes shapes) const;
  /// The cheapest one that does; ties: the first in the catalog.
  std::optional<TypeId> cheapest(Market market, Shapes shapes) const;
  /// The capacities on the market as shares of the reference.
  PackLimits limits(Market market) const;
  /// Why nothing on the market holds the demand, with the numbers.
  Refusal why_never(Market market, const Shape& shape) const;

 private:
  void derive();
  bool covered(TypeId one, const std::vector<TypeId>& others) const;

  void list_offered();
  void sort_by_price();

  const Catalog* catalog_;
  std::array<PricedTypes, 2> priced_;  ///< of each market
  bool of_fleet_ = false;
  PlacementMask mask_;
  std::array<std::vector<TypeId>, 2> by_price_;  ///< of each market, the cheapest first
  std::array<std::vector<TypeId>, 2> largest_;   ///< without those that another one covers
  Resources reference_;
};

}  // namespace muster
