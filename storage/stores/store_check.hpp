#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/money.hpp"
#include "storage/stores/store.hpp"

namespace muster {

/// Recovered state of a master's store.
struct StoredState {
  std::uint64_t jobs = 0;  ///< unfinished ones
  std::uint64_t tasks = 0;
  std::uint64_t instances = 0;
  Money total;  ///< of the ledger; its parts add up to it
};

/// Content of a store, and its faults.
struct StoreReport {
  StoreMeta meta;
  std::uint64_t first_event = 0;  ///< number of the first one in the journal
  std::uint64_t next_event = 0;   ///< number after the last one
  std::uint64_t batches = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t snapshot_at = 0;  ///< events that the newest one stands for
  std::uint64_t history = 0, objects = 0, handoffs = 0, tokens = 0, instances = 0;
  std::uint64_t ended = 0, cancels = 0;  ///< of a site
  StoredState state;                     ///< nothing in it unless all of it could be recovered
  std::vector<std::string> problems;     ///< empty: all is well
};

/// Decodes every record and applies the journal to the snapshot. Events that cannot have happened
/// would stop the process that applies them: a child of this one does it. Only for processes
/// without threads of their own.
StoreReport check_store(const Store& store);

}  // namespace muster
