#pragma once

#include <map>

#include "storage/stores/site_store.hpp"
#include "storage/stores/store.hpp"
#include "storage/stores/stored_numbers.hpp"

namespace muster {

/// The past ends of a site (PastEnds) in its store: StoredNumbers for each outcome.
class StoredPastEnds {
 public:
  StoreTrouble load(const Store& store);
  /// As the store has them.
  PastEnds ends() const;
  /// The store has it among its newest ends. Stores of earlier versions had no others.
  void recall(const EndedHandoff& ended);

  /// As the functions of StoredNumbers.
  void add(const EndedHandoff& ended);
  void put_in(StoreBatch& batch) const;
  void written();
  void put_back(StoreBatch& undo);

 private:
  StoredNumbers& of(JobOutcome outcome);

  std::map<JobOutcome, StoredNumbers> by_outcome_;
};

}  // namespace muster
