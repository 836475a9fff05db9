#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "storage/stores/site_store.hpp"
#include "storage/stores/store.hpp"

namespace muster {

/// The past ends of a site (PastEnds) in its store, a bit a job. Ends are added, written together,
/// and then they are in the store, or are not after all.
class StoredPastEnds {
 public:
  StoreTrouble load(const Store& store);
  const PastEnds& ends() const { return ends_; }
  /// The store has it among its newest ends. Stores of earlier versions had no others: it is
  /// written with the next group.
  void recall(const EndedHandoff& ended);

  /// It comes with the next group.
  void add(const EndedHandoff& ended);
  void put_in(StoreBatch& batch) const;
  /// The group is in the store.
  void written();
  /// It is not: the batch takes back what may be there of it.
  void put_back(StoreBatch& undo);

 private:
  NumberSet::Bits block_of(JobOutcome outcome, std::uint64_t block) const;
  void put(JobOutcome outcome, JobId job);

  PastEnds ends_;   ///< as the store has them
  PastEnds group_;  ///< the blocks that the group changes, as they are after it
  std::vector<std::pair<JobOutcome, JobId>> old_;  ///< of a store of an earlier version
};

}  // namespace muster
