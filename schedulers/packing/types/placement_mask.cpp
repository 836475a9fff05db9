#include "schedulers/packing/types/placement_mask.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

// Answers are kept by shape, not by task: there are thousands of tasks, but few shapes. Amounts are
// kept by family, since types of one family differ in capacity alone.

namespace muster {

std::vector<std::uint32_t> families_of(const Catalog& catalog) {
  std::vector<std::uint32_t> family_of;
  std::map<std::string_view, std::uint32_t> known;
  for (const InstanceType& type : catalog.types()) {
    const auto next = static_cast<std::uint32_t>(known.size());
    family_of.push_back(known.emplace(type.family, next).first->second);
  }
  return family_of;
}

void PlacementMask::begin(const Catalog& catalog) {
  catalog_ = &catalog;
  family_of_ = families_of(catalog);
  families_ = 0;
  for (const std::uint32_t family : family_of_) families_ = std::max(families_, family + 1);
}

void PlacementMask::make_room(std::size_t shapes) {
  made_.resize(shapes);
  least_.resize(shapes);
  holds_.resize(shapes * family_of_.size());
  amount_.resize(shapes * families_);
}

void PlacementMask::learn(const ClusterState& state) {
  if (catalog_ == nullptr) begin(state.catalog());
  if (changes_ == state.shape_changes()) return;
  changes_ = state.shape_changes();
  make_room(state.shape_count());
  for (std::uint32_t i = 0; i < made_.size(); ++i) {
    const ShapeId shape{i};
    // A shape that no task has any more takes little room and is overwritten by the one that comes
    // in its place: ids are used again, and `made` tells the shapes of one id apart.
    const std::uint64_t made = state.shape_made(shape);
    if (made == 0 || std::exchange(made_[i], made) == made) continue;
    work_out(shape, state.shape(shape));
  }
}

ShapeId PlacementMask::add(const Demands& demands) {
  const ShapeId shape{static_cast<std::uint32_t>(made_.size())};
  make_room(made_.size() + 1);
  made_.back() = made_.size();
  work_out(shape, demands);
  return shape;
}

void PlacementMask::work_out(ShapeId shape, const Demands& demands) {
  const auto types = static_cast<std::uint32_t>(family_of_.size());
  looks_ += types;
  std::optional<Resources> least;
  for (std::uint32_t i = 0; i < types; ++i) {
    const InstanceType& type = (*catalog_)[TypeId{i}];
    const FamilyDemand* demand = demands.on(type.family);
    const bool runs = demand != nullptr && demand->speed > 0;
    // The id may have been that of another shape, with other families.
    auto& amount = amount_[std::size_t{shape.value} * families_ + family_of_[i]];
    amount = runs ? std::optional(demand->amount) : std::nullopt;
    holds_[std::size_t{shape.value} * types + i] =
        runs && demand->amount.fits_in(type.capacity) ? 1 : 0;
    if (runs) least = least ? least_of(*least, demand->amount) : demand->amount;
  }
  least_[shape.value] = least.value_or(Resources{});
}

}  // namespace muster
