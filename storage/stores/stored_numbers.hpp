#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/number_set.hpp"
#include "storage/stores/store.hpp"

namespace muster {

/// A set of numbers that only grows, in a store: a record for each block of NumberSet. Numbers are
/// added, written as a group, and then they are in the store, or are not after all.
class StoredNumbers {
 public:
  /// The key of a record is that of its block, and the suffix.
  explicit StoredNumbers(Family family, std::string suffix = {})
      : family_(family), suffix_(std::move(suffix)) {}

  /// The store has these blocks.
  void recall(const NumberSet& blocks);
  /// As the store has them.
  const NumberSet& numbers() const { return stored_; }
  /// The store has it elsewhere, as an earlier version wrote it: it comes with the next group.
  void recall_old(std::uint64_t number);

  /// It comes with the next group.
  void add(std::uint64_t number);
  void put_in(StoreBatch& batch) const;
  /// The group is in the store.
  void written();
  /// It is not: the batch takes back what may be there of it.
  void put_back(StoreBatch& undo);

 private:
  std::string key_of(std::uint64_t block) const { return muster::key_of(block) + suffix_; }

  const Family family_;
  const std::string suffix_;
  NumberSet stored_;
  NumberSet group_;                 ///< the blocks that the group changes, as they are after it
  std::vector<std::uint64_t> old_;  ///< of recall_old(), until they are written
};

}  // namespace muster
