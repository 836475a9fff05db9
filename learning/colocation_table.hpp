#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/ids.hpp"

namespace muster {

/// Key of a multiset of classes: 128 bits that do not depend on the order of adding, so that one
/// class more costs two additions and no memory.
class ColocationKey {
 public:
  void add(ClassId cls) {
    low_ += mix(cls.value, 0x9e3779b97f4a7c15ULL);
    high_ += mix(cls.value, 0xd1b54a32d192ed03ULL);
    ++size_;
  }
  ColocationKey with(ClassId cls) const {
    ColocationKey key = *this;
    key.add(cls);
    return key;
  }

  std::uint64_t low() const { return low_; }
  /// Number of classes in the multiset.
  std::uint32_t size() const { return size_; }
  friend bool operator==(const ColocationKey&, const ColocationKey&) = default;

 private:
  static std::uint64_t mix(std::uint64_t value, std::uint64_t salt) {
    std::uint64_t z = (value + 1) * salt;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
  std::uint32_t size_ = 0;
};

/// One line of the table: how fast a task of `task` ran beside `neighbours`.
struct ColocationEntry {
  ClassId task;
  std::vector<ClassId> neighbours;  ///< sorted
  double mean = 1;                  ///< of the observed throughputs, relative to running alone
  std::uint64_t observations = 0;

  friend bool operator==(const ColocationEntry&, const ColocationEntry&) = default;
};

/// Where one task of a multi-task job ran while the job was observed.
struct GangPlace {
  ClassId task;
  std::span<const ClassId> neighbours;  ///< sorted
};

/// Which of a multi-task job's entries an observation belongs to (Eva 4.4).
enum class AttributionRules : std::uint8_t {
  paper,    ///< tasks without neighbours are never blamed; nothing fits: nothing is recorded
  artifact  ///< they are; when every entry is recorded and higher, the lowest one is updated
};

/// Learnt slow-downs of tasks on one instance (Eva 4.3): the mean of the throughputs observed for a
/// task of a class beside a multiset of classes. Look-ups do not allocate; one that finds nothing
/// recorded is answered from pairs, and those from a default.
class ColocationTable {
 public:
  /// `default_pair` in (0, 1]: the rate of a pair that was never observed (the paper's t).
  explicit ColocationTable(double default_pair = 0.95);

  /// The recorded means of one multiset of tasks on an instance, one cell a class in it.
  class Recorded {
   public:
    Recorded() = default;
    explicit operator bool() const { return !cells_.empty(); }
    /// The mean for a task of the class among the others; null when it was not recorded.
    const double* rate_of(ClassId task) const {
      for (const auto& cell : cells_) {
        if (cell.task == task) return cell.observations == 0 ? nullptr : &cell.mean;
      }
      return nullptr;
    }

   private:
    friend class ColocationTable;
    struct Cell {
      ClassId task;
      std::uint32_t count = 0;  ///< how often the multiset holds the class
      std::uint64_t observations = 0;
      double mean = 1;
    };
    explicit Recorded(std::span<const Cell> cells) : cells_(cells) {}
    std::span<const Cell> cells_;
  };

  /// Adds an observation, made `times` times, taken as 1 when it is more. One that is negative or
  /// no number is left out. `neighbours` has to be sorted.
  void record(ClassId task, std::span<const ClassId> neighbours, double throughput,
              std::uint64_t times = 1);

  /// Adds one observation of a multi-task job to the entry that the rules blame, if any.
  void record_gang(std::span<const GangPlace> places, double throughput, AttributionRules rules,
                   std::uint64_t times = 1);

  /// The expected throughput of a task beside sorted `neighbours`: the recorded mean, otherwise
  /// the product of the pairs.
  double rate(ClassId task, std::span<const ClassId> neighbours) const;

  /// The recorded mean of a pair, otherwise the default.
  double pair_rate(ClassId task, ClassId neighbour) const {
    const std::size_t row = task.value;
    const std::size_t column = neighbour.value;
    if (row < pair_width_ && column < pair_width_) return pairs_[row * pair_width_ + column];
    return distant_pair_rate(task, neighbour);
  }

  /// The mean recorded for the task beside sorted `neighbours`; null when it was not recorded.
  const double* recorded(ClassId task, std::span<const ClassId> neighbours) const;

  /// Records of the whole multiset (the task and its neighbours).
  Recorded recorded(const ColocationKey& all) const;

  /// Whether any multiset of that many tasks is recorded: saves looking for one.
  bool knows_sets_of(std::uint32_t size) const {
    return (sizes_ >> (size < 63 ? size : 63) & 1U) != 0;
  }

  double default_pair() const { return default_pair_; }
  /// Rises whenever a recorded mean changes.
  std::uint64_t version() const { return version_; }

  /// Everything recorded, ordered by task, then number of neighbours, then neighbours.
  std::vector<ColocationEntry> entries() const;
  /// How many multisets are recorded.
  std::size_t sets() const { return sets_.size(); }
  /// Drops what is recorded with a class that `known`, a function of a class, denies: no task is
  /// of it any more, and no task to come will be. Of the other multisets nothing changes.
  template <class Known>
  void keep(const Known& known) {
    std::vector<Set> sets = std::exchange(sets_, {});
    const std::vector<Cell> cells = std::exchange(cells_, {});
    index_.clear();
    for (Set& set : sets) {
      const std::span<const Cell> own(&cells[set.first], set.distinct);
      if (!std::all_of(own.begin(), own.end(), [&](const Cell& c) { return known(c.task); })) {
        continue;
      }
      set.first = static_cast<std::uint32_t>(cells_.size());
      cells_.insert(cells_.end(), own.begin(), own.end());
      sets_.push_back(set);
      enter_last();
    }
  }
  /// Puts back what entries() gave; the table has to be empty.
  void restore(std::span<const ColocationEntry> entries);

 private:
  using Cell = Recorded::Cell;
  struct Set {
    ColocationKey key;
    std::uint32_t first = 0;  ///< in cells_
    std::uint32_t distinct = 0;
  };

  double distant_pair_rate(ClassId task, ClassId neighbour) const;
  std::uint32_t find_set(const ColocationKey& key) const;
  Cell& cell_of(ClassId task, std::span<const ClassId> neighbours);
  std::uint32_t add_set(const ColocationKey& key, ClassId task,
                        std::span<const ClassId> neighbours);
  void grow_index();
  std::uint32_t enter_last();
  void remember_pair(ClassId task, ClassId neighbour, double mean);

  double default_pair_;
  std::vector<Set> sets_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> index_;  ///< open addressing: position in sets_ plus 1, 0 = free
  std::uint64_t sizes_ = 0;
  std::uint64_t version_ = 0;
  std::vector<double> pairs_;  ///< recorded pairs over the default, row = the task
  std::size_t pair_width_ = 0;
};

}  // namespace muster
