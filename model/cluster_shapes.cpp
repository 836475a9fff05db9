// The shapes of a cluster state: demands and constraints that tasks have in common, each kept as
// long as a task has it.

#include "model/cluster_state.hpp"

namespace muster {

// Bytes of the amounts: two demands are one shape when they are equal bit by bit.
std::string ClusterState::key_of(const Demands& demands, const std::string& constraint) {
  std::string key;
  for (const FamilyDemand& entry : demands.entries()) {
    key.append(entry.family).push_back('\0');
    key.append(reinterpret_cast<const char*>(entry.amount.amounts().data()),
               sizeof(double) * kResourceKinds);
    key.append(reinterpret_cast<const char*>(&entry.speed), sizeof(double));
  }
  // The length keeps its text apart from a demand's.
  if (!constraint.empty()) key.append(constraint).append(std::to_string(constraint.size()));
  return key;
}

ShapeId ClusterState::intern_shape(const Demands& demands, const std::string& constraint) {
  const auto lowest = free_shapes_.begin();
  const bool none_free = lowest == free_shapes_.end();
  // The lowest free id: the same events give the same ids in every run.
  const ShapeId next{none_free ? static_cast<std::uint32_t>(shapes_.size()) : *lowest};
  const auto [entry, is_new] = shape_ids_.emplace(key_of(demands, constraint), next);
  if (is_new) {
    if (none_free) {
      shapes_.emplace_back();
    } else {
      free_shapes_.erase(lowest);
    }
    shapes_[next.value] = {{demands, Constraint::of(constraint)}, 0, ++shape_changes_};
  }
  ++shapes_[entry->second.value].tasks;
  return entry->second;
}

ShapeId ClusterState::join_shape(ShapeId id) {
  ++shapes_[id.value].tasks;
  return id;
}

void ClusterState::leave_shape(ShapeId id) {
  ShapeRow& row = shapes_[id.value];
  if (--row.tasks > 0) return;
  shape_ids_.erase(key_of(row.shape.demands, row.shape.constraint.text()));
  // Numbers of changes tell those that cache by id that it may stand for another shape.
  free_shapes_.insert(id.value);
  ++shape_changes_;
  row = {};
}

void ClusterState::derive_shapes() {
  for (std::uint32_t id = 0; id < shapes_.size(); ++id) {
    ShapeRow& row = shapes_[id];
    row.made = row.tasks > 0 ? ++shape_changes_ : 0;
    if (row.tasks > 0) {
      shape_ids_.emplace(key_of(row.shape.demands, row.shape.constraint.text()), ShapeId{id});
    } else {
      free_shapes_.insert(id);
      row.shape = {};
    }
  }
}

}  // namespace muster
