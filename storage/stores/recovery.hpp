#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/catalog.hpp"
#include "model/event.hpp"
#include "model/master_snapshot.hpp"
#include "storage/stores/store.hpp"

namespace muster {

/// Content of a master's store: the newest snapshot and all events after it.
struct RecoveredMaster {
  std::optional<MasterSnapshot> snapshot;  ///< nothing: all events are in the tail
  std::vector<Event> tail;
  std::uint64_t snapshot_at = 0;  ///< number of events that the snapshot stands for
  std::uint64_t next_event = 0;   ///< number of the first event that is not in the store
};

/// Reads a master's store. The catalog has to outlive the snapshot. A record that cannot be
/// decoded, or a gap in the events, is an error.
Expected<RecoveredMaster, StoreError> recover_master(const Store& store, const Catalog& catalog);

/// Calls `use` for each batch of the journal, from the first one that is kept: with the number of
/// its first event.
StoreTrouble read_journal(
    const Store& store, const Catalog& catalog,
    const std::function<void(std::uint64_t first, std::vector<Event>&& batch)>& use);

}  // namespace muster
