#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "config/master_settings.hpp"
#include "masters/master_dependencies.hpp"
#include "model/event.hpp"
#include "model/master_snapshot.hpp"

namespace muster {

/// Content of a master's store, as its start reads it.
struct StoredMaster {
  const std::optional<MasterSnapshot>& snapshot;
  std::span<const Event> tail;
};

/// Result of the replay.
struct ReplayedEvents {
  std::uint64_t events = 0;  ///< of the tail, up to the one that ends the process, if one does
  std::string problem{};     ///< why no master could start so; empty: one can
  std::string memory{};      ///< the policy's message about its memory in the snapshot
};

/// Replays the events in a master and in its policy as a start does, and has the policy decide
/// once. A child process does it, since what fails a check ends its process. Only for processes
/// without threads of their own.
ReplayedEvents replay_in_child(const StoredMaster& stored, MasterDependencies parts);

}  // namespace muster
