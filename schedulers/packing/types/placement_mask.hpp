#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/feasible.hpp"

namespace muster {

/// Everything of a task that decides where it may be, whoever else is there. Tasks that ask alike
/// may be on instances of the same kinds. A constraint that tasks state on zones or labels belongs
/// here.
struct PlaceAsks {
  ShapeId shape;
  MarketChoice markets = MarketChoice::any;

  friend auto operator<=>(const PlaceAsks&, const PlaceAsks&) = default;
};

/// Everything of an instance that such an answer depends on. Zones and labels of instances belong
/// here.
struct InstanceKind {
  TypeId type;
  Market market = Market::on_demand;
};

/// The task's, at the moment: one that has lost too much on spot instances asks for others.
inline PlaceAsks asks_of(const ClusterState& state, const TaskRow& task) {
  return {task.shape, state.markets(task)};
}
/// The instance's, as long as it is there.
inline InstanceKind kind_of(const InstanceRow& row) {
  return {row.type, row.market};
}

/// The static part of the rule of placement (why_infeasible): on which kinds of instances the tasks
/// of each shape may be. It is worked out once a shape and kept between rounds; a question costs a
/// look into a table. All packers ask it, so that a constraint on placement is added in one place.
class PlacementMask {
 public:
  PlacementMask() = default;
  /// The catalog has to outlive it.
  explicit PlacementMask(const Catalog& catalog) { begin(catalog); }

  /// Takes in the shapes that the state has met since: O(types) for each of these, O(shapes) when
  /// there are some, else O(1).
  void learn(const ClusterState& state);
  /// Takes in one more shape, where there is no state; its id is the number of shapes before it.
  ShapeId add(const Demands& demands);

  /// A task that asks so may be alone on an instance of the kind.
  bool allows(const PlaceAsks& asks, const InstanceKind& kind) const {
    return holds(asks.shape, kind.type) && wants(asks.markets, kind.market);
  }
  /// An empty instance of the type has room for a task of the shape.
  bool holds(ShapeId shape, TypeId type) const {
    return holds_[std::size_t{shape.value} * family_of_.size() + type.value] != 0;
  }
  /// The amounts that a task of the shape takes of an instance of the type. Nothing: such tasks do
  /// not run on the type's family.
  const std::optional<Resources>& amount(ShapeId shape, TypeId type) const {
    return on_family(shape, family_of(type));
  }
  const std::optional<Resources>& on_family(ShapeId shape, std::uint32_t family) const {
    return amount_[std::size_t{shape.value} * families_ + family];
  }
  /// The least amount of each resource that a task of the shape takes on any family.
  const Resources& least(ShapeId shape) const { return least_[shape.value]; }

  /// The families of types, in the order of the catalog: tasks ask for equal amounts on all types
  /// of one.
  std::uint32_t family_of(TypeId type) const { return family_of_[type.value]; }
  std::uint32_t families() const { return families_; }

  /// Pairs of shape and type that were worked out so far.
  std::uint64_t looks() const { return looks_; }

 private:
  void begin(const Catalog& catalog);
  void make_room(std::size_t shapes);
  void work_out(ShapeId shape, const Demands& demands);

  const Catalog* catalog_ = nullptr;
  std::vector<std::uint32_t> family_of_;  ///< of each type
  std::uint32_t families_ = 0;
  std::vector<std::uint64_t> made_;               ///< which shape each is, as the state counts them
  std::vector<char> holds_;                       ///< of each shape and type
  std::vector<std::optional<Resources>> amount_;  ///< of each shape and family
  std::vector<Resources> least_;                  ///< of each shape
  std::uint64_t changes_ = 0;                     ///< of the state's shapes that are known
  std::uint64_t looks_ = 0;
};

/// The number of each type's family, in the order in which the catalog names families.
std::vector<std::uint32_t> families_of(const Catalog& catalog);

}  // namespace muster
