#include "schedulers/packing/types/placement_mask.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

// Answers are kept by shape, not by task: there are thousands of tasks, but few shapes. Amounts are
// kept by family, since types of one family differ in capacity, and in what constraints say of
// them. A constraint is asked once of each type, however many shapes have it.

namespace muster {
namespace {

/// The number of each type's family, in the order in which the catalog names families.
std::vector<std::uint32_t> families_of(const Catalog& catalog) {
  std::vector<std::uint32_t> family_of;
  std::map<std::string_view, std::uint32_t> known;
  for (const InstanceType& type : catalog.types()) {
    const auto next = static_cast<std::uint32_t>(known.size());
    family_of.push_back(known.emplace(type.family, next).first->second);
  }
  return family_of;
}

}  // namespace

void PlacementMask::begin(const Catalog& catalog) {
  catalog_ = &catalog;
  family_of_ = families_of(catalog);
  families_ = 0;
  for (const std::uint32_t family : family_of_) families_ = std::max(families_, family + 1);
  start_groups();
}

void PlacementMask::make_room(std::size_t shapes) {
  // Ids of shapes are used again and never fewer.
  made_.resize(shapes);
  least_.resize(shapes);
  holds_.resize(shapes * family_of_.size());
  amount_.resize(shapes * families_);
  constraint_of_.resize(shapes, kNone);
}

void PlacementMask::learn(const ClusterState& state) {
  if (catalog_ == nullptr) begin(state.catalog());
  if (changes_ == state.shape_changes()) return;
  changes_ = state.shape_changes();
  make_room(state.shape_count());
  for (std::uint32_t i = 0; i < made_.size(); ++i) {
    const ShapeId shape{i};
    // A shape that no task has any more takes little room and is overwritten by the one that comes
    // in its place: ids are used again, and `made` tells the shapes of one id apart. Its constraint
    // goes at once, since it may split groups.
    const std::uint64_t made = state.shape_made(shape);
    if (made_[i] != made) forget_constraint(shape);
    if (made == 0 || std::exchange(made_[i], made) == made) continue;
    work_out(shape, state.shape(shape));
  }
  regroup();
}

ShapeId PlacementMask::add(const Shape& asked) {
  const ShapeId shape{static_cast<std::uint32_t>(made_.size())};
  make_room(made_.size() + 1);
  made_.back() = made_.size();
  work_out(shape, asked);
  regroup();
  return shape;
}

void PlacementMask::work_out(ShapeId shape, const Shape& asked) {
  const auto types = static_cast<std::uint32_t>(family_of_.size());
  looks_ += types;
  constraint_of_[shape.value] = number_of(asked.constraint);
  std::optional<Resources> least;
  for (std::uint32_t i = 0; i < types; ++i) {
    const InstanceType& type = (*catalog_)[TypeId{i}];
    const FamilyDemand* demand = asked.demands.on(type.family);
    const bool runs = demand != nullptr && demand->speed > 0;
    // The id may have been that of another shape, with other families.
    auto& amount = amount_[std::size_t{shape.value} * families_ + family_of_[i]];
    amount = runs ? std::optional(demand->amount) : std::nullopt;
    holds_[std::size_t{shape.value} * types + i] =
        runs && demand->amount.fits_in(type.capacity) && admits(shape, TypeId{i}) ? 1 : 0;
    if (runs) least = least ? least_of(*least, demand->amount) : demand->amount;
  }
  least_[shape.value] = least.value_or(Resources{});
}

const std::optional<Resources>& PlacementMask::on_group(ShapeId shape, std::uint32_t group) const {
  static const std::optional<Resources> kNowhere;
  const TypeId first = first_type_[group];
  if (!admits(shape, first)) return kNowhere;
  return amount_[std::size_t{shape.value} * families_ + family_of_[first.value]];
}

std::uint32_t PlacementMask::number_of(const Constraint& constraint) {
  if (constraint.is_empty()) return kNone;
  const auto [known, is_new] = numbers_.emplace(constraint.text(), kNone);
  if (is_new) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(constraints_.size()));
      constraints_.emplace_back();
    }
    known->second = free_.back();
    free_.pop_back();
    Constrained& one = constraints_[known->second];
    one = {constraint.text(), {}, 0};
    for (const InstanceType& type : catalog_->types()) {
      one.admits.push_back(constraint.admits(type) ? 1 : 0);
    }
    constraint_looks_ += catalog_->size();
    fresh_.push_back(known->second);
  }
  ++constraints_[known->second].shapes;
  return known->second;
}

void PlacementMask::forget_constraint(ShapeId shape) {
  const std::uint32_t number = std::exchange(constraint_of_[shape.value], kNone);
  if (number == kNone || --constraints_[number].shapes > 0) return;
  numbers_.erase(constraints_[number].text);
  free_.push_back(number);
  some_gone_ = true;
}

/// Groups follow from the constraints that there are, and not from those that there were: a master
/// that starts again has the groups that it had.
void PlacementMask::regroup() {
  if (fresh_.empty() && !some_gone_) return;
  const std::vector<std::uint32_t> before = group_of_;
  if (some_gone_) {
    start_groups();
    for (const Constrained& each : constraints_) {
      if (each.shapes > 0) split_groups(each);
    }
  } else {
    for (const std::uint32_t number : fresh_) split_groups(constraints_[number]);
  }
  fresh_.clear();
  some_gone_ = false;
  if (group_of_ != before) ++grouping_;
}

void PlacementMask::start_groups() {
  group_of_ = family_of_;
  first_type_.clear();
  for (std::uint32_t i = 0; i < group_of_.size(); ++i) {
    if (group_of_[i] == first_type_.size()) first_type_.push_back(TypeId{i});
  }
}

/// Numbers the parts in the order of their first types, whatever the order of the splits is.
void PlacementMask::split_groups(const Constrained& constraint) {
  std::vector<std::uint32_t> part(2 * first_type_.size(), kNone);
  first_type_.clear();
  for (std::uint32_t i = 0; i < group_of_.size(); ++i) {
    const bool admitted = constraint.admits[i] != 0;
    std::uint32_t& number = part[2 * std::size_t{group_of_[i]} + (admitted ? 1 : 0)];
    if (number == kNone) {
      number = static_cast<std::uint32_t>(first_type_.size());
      first_type_.push_back(TypeId{i});
    }
    group_of_[i] = number;
  }
}

}  // namespace muster
