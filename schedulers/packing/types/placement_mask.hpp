#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/feasible.hpp"

namespace muster {

/// Everything of a task that decides where it may be, whoever else is there. Tasks that ask alike
/// may be on instances of the same kinds. The constraint of its job is a part of its shape.
struct PlaceAsks {
  ShapeId shape;
  MarketChoice markets = MarketChoice::any;

  friend auto operator<=>(const PlaceAsks&, const PlaceAsks&) = default;
};

/// Everything of an instance that such an answer depends on. Its zone and its other labels are its
/// type's.
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
///
/// Types are in groups, so that indexes of instances look for room in a group and not type by type:
/// tasks ask for equal amounts on all types of a group, and may be on all of them or on no one,
/// where they fit. A group is a family, or a part of it where a constraint of some shape tells its
/// types apart.
class PlacementMask {
 public:
  PlacementMask() = default;
  /// The catalog has to outlive it.
  explicit PlacementMask(const Catalog& catalog) { begin(catalog); }

  /// Takes in the shapes that the state has met since: O(types) for each of these, O(shapes) when
  /// there are some, else O(1). A constraint that has come or gone costs O(types) as well; the
  /// families whose types it tells apart are grouped anew, once for all such constraints.
  void learn(const ClusterState& state);
  /// Takes in one more shape, where there is no state; its id is the number of shapes before it.
  ShapeId add(const Shape& shape);

  /// A task that asks so may be alone on an instance of the kind.
  bool allows(const PlaceAsks& asks, const InstanceKind& kind) const {
    return holds(asks.shape, kind.type) && wants(asks.markets, kind.market);
  }
  /// An empty instance of the type may have a task of the shape and has room for it.
  bool holds(ShapeId shape, TypeId type) const {
    return holds_[std::size_t{shape.value} * family_of_.size() + type.value] != 0;
  }
  /// The constraint of the shape lets its tasks be on instances of the type.
  bool admits(ShapeId shape, TypeId type) const {
    const std::uint32_t number = constraint_of_[shape.value];
    return number == kNone || constraints_[number].admits[type.value] != 0;
  }
  /// The amounts that a task of the shape takes of an instance of the type. Nothing: such tasks may
  /// not be there.
  const std::optional<Resources>& amount(ShapeId shape, TypeId type) const {
    return on_group(shape, group_of(type));
  }
  const std::optional<Resources>& on_group(ShapeId shape, std::uint32_t group) const;
  /// The least amount of each resource that a task of the shape takes on any family.
  const Resources& least(ShapeId shape) const { return least_[shape.value]; }

  /// The groups of types, in the order in which the catalog has their first types.
  std::uint32_t group_of(TypeId type) const { return group_of_[type.value]; }
  std::uint32_t groups() const { return static_cast<std::uint32_t>(first_type_.size()); }
  /// Rises whenever types are grouped otherwise than before.
  std::uint64_t grouping() const { return grouping_; }
  /// Some shape has a constraint.
  bool is_constrained() const { return !numbers_.empty(); }

  /// Pairs of shape and type that were worked out so far, and pairs of constraint and type.
  std::uint64_t looks() const { return looks_.shapes; }
  std::uint64_t constraint_looks() const { return looks_.constraints; }
  /// Types that were put into groups anew, since constraints that came or went tell them apart.
  std::uint64_t group_looks() const { return looks_.groups; }

 private:
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);
  /// A constraint that shapes have.
  struct Constrained {
    std::string text;
    std::vector<char> admits;  ///< each type
    std::uint64_t shapes = 0;  ///< that have it; 0: its number is free (`free_`)
  };

  /// A bit for the number of each constraint that tells types of the family apart.
  using Row = std::vector<std::uint64_t>;

  /// How often types were looked at: for shapes, for constraints and for groups.
  struct Looks {
    std::uint64_t shapes = 0;
    std::uint64_t constraints = 0;
    std::uint64_t groups = 0;
  };

  void begin(const Catalog& catalog);
  void make_room(std::size_t shapes);
  void forget_constraint(ShapeId shape);
  void work_out(ShapeId shape, const Shape& asked);
  std::uint32_t number_of(const Constraint& constraint);
  void note_change(std::uint32_t constraint);
  void regroup();

  const Catalog* catalog_ = nullptr;
  std::vector<std::uint32_t> family_of_;  ///< of each type
  std::uint32_t families_ = 0;
  std::vector<std::vector<std::uint32_t>> types_of_;  ///< of each family
  std::vector<std::uint32_t> group_of_;               ///< of each type
  std::vector<TypeId> first_type_;                    ///< of each group
  std::vector<std::uint64_t> made_;               ///< which shape each is, as the state counts them
  std::vector<char> holds_;                       ///< of each shape and type
  std::vector<std::optional<Resources>> amount_;  ///< of each shape and family
  std::vector<Resources> least_;                  ///< of each shape
  std::vector<std::uint32_t> constraint_of_;      ///< of each shape; kNone: it has no constraint
  std::vector<Constrained> constraints_;
  std::vector<std::uint32_t> free_;               ///< numbers of those that no shape has any more
  std::map<std::string, std::uint32_t> numbers_;  ///< of those that shapes have, by text
  std::vector<Row> admitted_by_;                  ///< of each type; alike within a group
  std::vector<char> to_regroup_;                  ///< of each family: its rows have changed
  std::uint64_t changes_ = 0;                     ///< of the state's shapes that are known
  std::uint64_t grouping_ = 0;
  Looks looks_;
};

}  // namespace muster
