#include "schedulers/packing/types/placement_mask.hpp"

#include <algorithm>
#include <functional>
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
  types_of_.resize(families_);
  for (std::uint32_t i = 0; i < family_of_.size(); ++i) {
    std::vector<std::uint32_t>& types = types_of_[family_of_[i]];
    if (types.empty()) first_type_.push_back(TypeId{i});
    types.push_back(i);
  }
  group_of_ = family_of_;
  admitted_by_.resize(family_of_.size());
  to_regroup_.assign(families_, 0);
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
  looks_.shapes += types;
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
    looks_.constraints += catalog_->size();
    note_change(known->second);
  }
  ++constraints_[known->second].shapes;
  return known->second;
}

void PlacementMask::forget_constraint(ShapeId shape) {
  const std::uint32_t number = std::exchange(constraint_of_[shape.value], kNone);
  if (number == kNone || --constraints_[number].shapes > 0) return;
  numbers_.erase(constraints_[number].text);
  free_.push_back(number);
  note_change(number);
}

/// The constraint comes or goes. It is written down for the families whose types it tells apart;
/// the groups of all others stay.
void PlacementMask::note_change(std::uint32_t number) {
  const std::vector<char>& admits = constraints_[number].admits;
  const std::size_t word = number / 64;
  const std::uint64_t bit = std::uint64_t{1} << (number % 64);
  for (std::uint32_t family = 0; family < families_; ++family) {
    const std::vector<std::uint32_t>& types = types_of_[family];
    const auto as_first = [&](std::uint32_t type) { return admits[type] == admits[types.front()]; };
    if (std::all_of(types.begin(), types.end(), as_first)) continue;
    to_regroup_[family] = 1;
    for (const std::uint32_t type : types) {
      // Rows of a family are compared, so that all of them have one length.
      Row& row = admitted_by_[type];
      if (row.size() <= word) row.resize(word + 1);
      if (admits[type] != 0) row[word] ^= bit;
    }
  }
}

/// Groups follow from the constraints that there are, and not from those that there were: a master
/// that starts again has the groups that it had. They are numbered in the order of their first
/// types.
void PlacementMask::regroup() {
  if (std::find(to_regroup_.begin(), to_regroup_.end(), 1) == to_regroup_.end()) return;
  std::vector<std::uint32_t> parts = group_of_;
  std::uint32_t next = groups();
  for (std::uint32_t family = 0; family < families_; ++family) {
    if (std::exchange(to_regroup_[family], 0) == 0) continue;
    std::map<std::reference_wrapper<const Row>, std::uint32_t, std::less<Row>> known;
    for (const std::uint32_t type : types_of_[family]) {
      ++looks_.groups;
      const auto [part, is_new] = known.emplace(std::cref(admitted_by_[type]), next);
      if (is_new) ++next;
      parts[type] = part->second;
    }
  }
  std::vector<std::uint32_t> number(next, kNone);
  first_type_.clear();
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    std::uint32_t& group = number[parts[i]];
    if (group == kNone) {
      group = groups();
      first_type_.push_back(TypeId{i});
    }
    parts[i] = group;
  }
  if (parts == group_of_) return;
  group_of_ = std::move(parts);
  ++grouping_;
}

}  // namespace muster
