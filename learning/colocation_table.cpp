#include "learning/colocation_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/check.hpp"

namespace muster {
namespace {

/// Classes up to here have their pairs in a dense matrix of 32 MiB at most; pairs of later ones are
/// looked up.
constexpr std::size_t kDenseClasses = 2048;

ColocationKey key_of(ClassId task, std::span<const ClassId> neighbours) {
  ColocationKey key;
  key.add(task);
  for (ClassId neighbour : neighbours) key.add(neighbour);
  return key;
}

}  // namespace

ColocationTable::ColocationTable(double default_pair) : default_pair_(default_pair) {
  MUSTER_CHECK(default_pair > 0 && default_pair <= 1, "the default rate of a pair is in (0, 1]");
}

std::uint32_t ColocationTable::find_set(const ColocationKey& key) const {
  if (index_.empty()) return 0;
  const std::size_t mask = index_.size() - 1;
  // Linear probing in a table that is at most half full: it ends at an empty place.
  for (std::size_t at = key.low() & mask;; at = (at + 1) & mask) {
    if (index_[at] == 0 || sets_[index_[at] - 1].key == key) return index_[at];
  }
}

void ColocationTable::grow_index() {
  if (sets_.size() * 2 < index_.size()) return;
  index_.assign(std::max<std::size_t>(64, index_.size() * 2), 0);
  const std::size_t mask = index_.size() - 1;
  for (std::uint32_t i = 0; i < sets_.size(); ++i) {
    std::size_t at = sets_[i].key.low() & mask;
    while (index_[at] != 0) at = (at + 1) & mask;
    index_[at] = i + 1;
  }
}

std::uint32_t ColocationTable::add_set(const ColocationKey& key, ClassId task,
                                       std::span<const ClassId> neighbours) {
  Set set{.key = key, .first = static_cast<std::uint32_t>(cells_.size()), .distinct = 0};
  const auto add = [&](ClassId cls) {
    for (std::uint32_t i = 0; i < set.distinct; ++i) {
      Cell& cell = cells_[set.first + i];
      if (cell.task == cls) return static_cast<void>(++cell.count);
    }
    cells_.push_back({.task = cls, .count = 1});
    ++set.distinct;
  };
  add(task);
  for (ClassId neighbour : neighbours) add(neighbour);
  sets_.push_back(set);
  // A bit a size: sets of a size never recorded need no look-up at all.
  sizes_ |= std::uint64_t{1} << std::min<std::uint32_t>(key.size(), 63);
  return enter_last();
}

/// Has the last of the sets found by its key.
std::uint32_t ColocationTable::enter_last() {
  const ColocationKey& key = sets_.back().key;
  grow_index();
  const std::size_t mask = index_.size() - 1;
  std::size_t at = key.low() & mask;
  // Growing may have entered the set already.
  while (index_[at] != 0 && index_[at] != sets_.size()) at = (at + 1) & mask;
  return index_[at] = static_cast<std::uint32_t>(sets_.size());
}

ColocationTable::Cell& ColocationTable::cell_of(ClassId task, std::span<const ClassId> neighbours) {
  MUSTER_CHECK(std::is_sorted(neighbours.begin(), neighbours.end()), "neighbours are sorted");
  const ColocationKey key = key_of(task, neighbours);
  std::uint32_t found = find_set(key);
  if (found == 0) found = add_set(key, task, neighbours);
  const Set& set = sets_[found - 1];
  for (std::uint32_t i = 0; i < set.distinct; ++i) {
    if (cells_[set.first + i].task == task) return cells_[set.first + i];
  }
  MUSTER_CHECK(false, "two multisets of classes have the same key");
  return cells_[set.first];
}

void ColocationTable::record(ClassId task, std::span<const ClassId> neighbours, double throughput,
                             std::uint64_t times) {
  if (!(throughput >= 0) || times == 0) return;
  throughput = std::min(throughput, 1.0);
  Cell& cell = cell_of(task, neighbours);
  const bool first = cell.observations == 0;
  cell.observations += times;
  const double before = cell.mean;
  // In this form a mean of equal observations keeps every bit.
  if (first) {
    cell.mean = throughput;
  } else {
    cell.mean += (throughput - cell.mean) * static_cast<double>(times) /
                 static_cast<double>(cell.observations);
  }
  // An equal mean changes nothing that anybody has computed from the table.
  if (!first && cell.mean == before) return;
  ++version_;
  if (neighbours.size() == 1) remember_pair(task, neighbours[0], cell.mean);
}

void ColocationTable::remember_pair(ClassId task, ClassId neighbour, double mean) {
  const std::size_t needed = std::max(task.value, neighbour.value) + std::size_t{1};
  if (needed > kDenseClasses) return;
  if (needed > pair_width_) {
    const std::size_t width = std::min(kDenseClasses, std::max(needed, 2 * pair_width_));
    std::vector<double> wider(width * width, default_pair_);
    for (std::size_t row = 0; row < pair_width_; ++row) {
      std::copy_n(&pairs_[row * pair_width_], pair_width_, &wider[row * width]);
    }
    pairs_ = std::move(wider);
    pair_width_ = width;
  }
  pairs_[task.value * pair_width_ + neighbour.value] = mean;
}

double ColocationTable::distant_pair_rate(ClassId task, ClassId neighbour) const {
  if (task.value < kDenseClasses && neighbour.value < kDenseClasses) return default_pair_;
  const double* mean = recorded(task, std::span(&neighbour, 1));
  return mean == nullptr ? default_pair_ : *mean;
}

void ColocationTable::record_gang(std::span<const GangPlace> places, double throughput,
                                  AttributionRules rules, std::uint64_t times) {
  const GangPlace* lowest = nullptr;
  const GangPlace* most_unknown = nullptr;  // the unrecorded place with the most neighbours
  double lowest_mean = 0;
  for (const GangPlace& place : places) {
    // A task alone on its instance cannot have been slowed by neighbours (Eva 4.4).
    if (rules == AttributionRules::paper && place.neighbours.empty()) continue;
    const double* mean = recorded(place.task, place.neighbours);
    if (mean != nullptr) {
      if (lowest == nullptr || *mean < lowest_mean) lowest = &place, lowest_mean = *mean;
    } else if (most_unknown == nullptr ||
               place.neighbours.size() > most_unknown->neighbours.size()) {
      most_unknown = &place;
    }
  }
  const bool all_higher = lowest == nullptr || lowest_mean > throughput;
  // Some place explains the value already when its recorded mean is no higher; otherwise the place
  // is blamed of which least is known.
  const GangPlace* blamed = all_higher ? most_unknown : lowest;
  if (blamed == nullptr && rules == AttributionRules::artifact) blamed = lowest;
  if (blamed != nullptr) record(blamed->task, blamed->neighbours, throughput, times);
}

const double* ColocationTable::recorded(ClassId task, std::span<const ClassId> neighbours) const {
  return recorded(key_of(task, neighbours)).rate_of(task);
}

ColocationTable::Recorded ColocationTable::recorded(const ColocationKey& all) const {
  const std::uint32_t found = find_set(all);
  if (found == 0) return {};
  const Set& set = sets_[found - 1];
  return Recorded{std::span(&cells_[set.first], set.distinct)};
}

double ColocationTable::rate(ClassId task, std::span<const ClassId> neighbours) const {
  if (const double* mean = recorded(task, neighbours)) return *mean;
  double product = 1;
  for (ClassId neighbour : neighbours) product *= pair_rate(task, neighbour);
  return product;
}

std::vector<ColocationEntry> ColocationTable::entries() const {
  std::vector<ColocationEntry> result;
  for (const Set& set : sets_) {
    const std::span<const Cell> cells(&cells_[set.first], set.distinct);
    for (const Cell& cell : cells) {
      if (cell.observations == 0) continue;
      ColocationEntry entry{cell.task, {}, cell.mean, cell.observations};
      for (const Cell& other : cells) {
        const std::uint32_t copies = other.count - (other.task == cell.task ? 1 : 0);
        entry.neighbours.insert(entry.neighbours.end(), copies, other.task);
      }
      std::sort(entry.neighbours.begin(), entry.neighbours.end());
      result.push_back(std::move(entry));
    }
  }
  std::sort(result.begin(), result.end(), [](const ColocationEntry& a, const ColocationEntry& b) {
    if (a.task != b.task) return a.task < b.task;
    if (a.neighbours.size() != b.neighbours.size()) {
      return a.neighbours.size() < b.neighbours.size();
    }
    return a.neighbours < b.neighbours;
  });
  return result;
}

void ColocationTable::restore(std::span<const ColocationEntry> entries) {
  MUSTER_CHECK(sets_.empty(), "only an empty table is filled from entries");
  for (const ColocationEntry& entry : entries) {
    Cell& cell = cell_of(entry.task, entry.neighbours);
    cell.mean = entry.mean >= 0 ? std::min(entry.mean, 1.0) : default_pair_;
    cell.observations = entry.observations;
    if (entry.neighbours.size() == 1) remember_pair(entry.task, entry.neighbours[0], entry.mean);
  }
  ++version_;
}

}  // namespace muster
