#include "model/shape_table.hpp"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

/// Texts of constraints whose types are remembered.
constexpr std::size_t kMostTexts = 1024;

}  // namespace

const std::string& ShapeTable::admitted(const Catalog& catalog, const std::string& constraint) {
  // Forgotten all at once: each is found again by what it says.
  if (admitted_.size() >= kMostTexts && !admitted_.contains(constraint)) admitted_.clear();
  const auto [entry, is_new] = admitted_.try_emplace(constraint);
  if (!is_new) return entry->second;
  const Constraint asked = Constraint::of(constraint);
  std::string bits((catalog.size() + 7) / 8, '\0');
  bool all = true;
  for (std::uint32_t type = 0; type < catalog.size(); ++type) {
    const bool admits = asked.admits(catalog[TypeId{type}]);
    all = all && admits;
    if (admits) bits[type / 8] = static_cast<char>(bits[type / 8] | (1 << (type % 8)));
  }
  if (!all) entry->second = std::move(bits);
  return entry->second;
}

// Bytes of the amounts: two demands are one shape when they are equal bit by bit.
std::string ShapeTable::key_of(const Catalog& catalog, const Demands& demands,
                               const std::string& constraint) {
  std::string key;
  for (const FamilyDemand& entry : demands.entries()) {
    key.append(entry.family).push_back('\0');
    key.append(reinterpret_cast<const char*>(entry.amount.amounts().data()),
               sizeof(double) * kResourceKinds);
    key.append(reinterpret_cast<const char*>(&entry.speed), sizeof(double));
  }
  if (constraint.empty()) return key;
  // The length keeps its bits apart from a demand's.
  const std::string& bits = admitted(catalog, constraint);
  if (!bits.empty()) key.append(bits).append(std::to_string(bits.size()));
  return key;
}

ShapeId ShapeTable::intern(const Catalog& catalog, const Demands& demands,
                           const std::string& constraint) {
  const auto lowest = free_.begin();
  const bool none_free = lowest == free_.end();
  // The lowest free id: the same events give the same ids in every run.
  const ShapeId next{none_free ? static_cast<std::uint32_t>(rows_.size()) : *lowest};
  std::string key = key_of(catalog, demands, constraint);
  const auto [entry, is_new] = ids_.emplace(key, next);
  if (is_new) {
    if (none_free) {
      rows_.emplace_back();
    } else {
      free_.erase(lowest);
    }
    const bool is_free = constraint.empty() || admitted(catalog, constraint).empty();
    rows_[next.value] = {{demands, is_free ? Constraint() : Constraint::of(constraint)},
                         std::move(key),
                         0,
                         ++changes_};
  }
  ++rows_[entry->second.value].tasks;
  return entry->second;
}

ShapeId ShapeTable::join(ShapeId id) {
  ++rows_[id.value].tasks;
  return id;
}

void ShapeTable::leave(ShapeId id) {
  Row& row = rows_[id.value];
  if (--row.tasks > 0) return;
  const auto entry = ids_.find(row.key);
  if (entry != ids_.end() && entry->second == id) ids_.erase(entry);
  // Numbers of changes tell those that cache by id that it may stand for another shape.
  free_.insert(id.value);
  ++changes_;
  row = {};
}

void ShapeTable::restore(std::vector<Shape> shapes) {
  for (Shape& shape : shapes) rows_.push_back({std::move(shape)});
}

void ShapeTable::settle(const Catalog& catalog) {
  for (std::uint32_t id = 0; id < rows_.size(); ++id) {
    Row& row = rows_[id];
    row.made = row.tasks > 0 ? ++changes_ : 0;
    if (row.tasks > 0) {
      // Of two that are one by this catalog the first stays; tasks of the other come to it.
      row.key = key_of(catalog, row.shape.demands, row.shape.constraint.text());
      ids_.emplace(row.key, ShapeId{id});
    } else {
      free_.insert(id);
      row.shape = {};
    }
  }
}

ShapeId ShapeTable::present(const Catalog& catalog, ShapeId id, const Demands& demands,
                            const std::string& constraint) {
  const auto entry = ids_.find(key_of(catalog, demands, constraint));
  if (entry != ids_.end() && entry->second == id) return id;
  const ShapeId now = intern(catalog, demands, constraint);
  leave(id);
  return now;
}

bool ShapeTable::is_consistent() const {
  if (ids_.size() + free_.size() != rows_.size()) return false;
  std::set<std::uint32_t> found;
  for (const auto& [key, id] : ids_) {
    if (rows_[id.value].tasks == 0 || !found.insert(id.value).second) return false;
  }
  return std::ranges::all_of(free_, [&](std::uint32_t id) {
    return id < rows_.size() && rows_[id].tasks == 0 && rows_[id].made == 0;
  });
}

}  // namespace muster
