#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/catalog.hpp"
#include "model/constraint.hpp"
#include "model/ids.hpp"

namespace muster {

/// The shapes of a state: demands and constraints that tasks have in common, each kept for as long
/// as a task has it. Constraints that the same types of the catalog meet are one, in whatever
/// words, and one that every type meets counts as no constraint: a policy tells only those tasks
/// apart that may be on different types. A shape's constraint is that of the task that came first
/// with it.
class ShapeTable {
 public:
  const Shape& operator[](ShapeId id) const { return rows_[id.value].shape; }
  /// Shapes have ids below this one.
  std::size_t size() const { return rows_.size(); }
  /// Which of all that ever were the shape of that id is; 0: no task has one of that id.
  std::uint64_t made(ShapeId id) const { return rows_[id.value].made; }
  /// Rises whenever a shape comes or goes.
  std::uint64_t changes() const { return changes_; }
  /// Of the tasks that have it.
  std::uint32_t tasks(ShapeId id) const { return rows_[id.value].tasks; }

  /// The shape of a task that comes. O(types) for a constraint that is not known.
  ShapeId intern(const Catalog& catalog, const Demands& demands, const std::string& constraint);
  /// One more task has the shape, which another has already.
  ShapeId join(ShapeId id);
  /// A task that had the shape is gone.
  void leave(ShapeId id);

  /// Takes in those of a snapshot, which no task has yet: each task then joins its own, settle()
  /// follows, and after it each task asks for its present one.
  void restore(std::vector<Shape> shapes);
  void settle(const Catalog& catalog);
  /// The task leaves the shape for the one that it has by this catalog. Before a restart the
  /// catalog may have been another one, or shapes told constraints apart by their words.
  ShapeId present(const Catalog& catalog, ShapeId id, const Demands& demands,
                  const std::string& constraint);

  /// Each id is either free or found by what its shape is.
  bool is_consistent() const;

 private:
  struct Row {
    Shape shape;              ///< empty while no task has it
    std::string key{};        ///< by which `ids_` finds it
    std::uint32_t tasks = 0;  ///< how many have it
    std::uint64_t made = 0;
  };

  std::string key_of(const Catalog& catalog, const Demands& demands, const std::string& constraint);
  /// A bit for each type that meets it; empty: all do.
  const std::string& admitted(const Catalog& catalog, const std::string& constraint);

  std::vector<Row> rows_;
  std::set<std::uint32_t> free_;  ///< ids that no shape has; the lowest is used first
  std::uint64_t changes_ = 0;
  std::unordered_map<std::string, ShapeId> ids_;           ///< by the shape's bytes
  std::unordered_map<std::string, std::string> admitted_;  ///< by the constraint's text
};

}  // namespace muster
