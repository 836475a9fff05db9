#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "storage/stores/store.hpp"

namespace muster {

/// A damaged store that is to be read as far as it can be.
struct SalvageOrder {
  std::filesystem::path from;  ///< never written
  std::filesystem::path to;    ///< a folder that is not there yet, or empty
  std::filesystem::path like;  ///< another store of that role: says whose the damaged one is, where
                               ///< that cannot be read of itself; empty: there is no such store
};

/// Something that the new store lacks.
struct SalvageLoss {
  std::string where;              ///< a family or a file
  std::string what;               ///< which records, or why
  std::optional<JobId> job = {};  ///< whose record it was, if that is known
};

/// Findings of a salvage.
struct SalvageReport {
  StoreMeta meta;
  std::array<std::uint64_t, kFamilies> kept{};  ///< records, by Family
  std::vector<SalvageLoss> lost;                ///< the first kMostNamed; empty: nothing is lost
  std::uint64_t not_named = 0;                  ///< further ones
  std::uint64_t lost_changes = 0;               ///< of the logs, of whatever family; at least
  std::uint64_t next_event = 0;   ///< of a master: its events are kept up to this number
  std::uint64_t lost_events = 0;  ///< of a master: durable ones after that; at least
  std::vector<JobId> held;        ///< open jobs of a master, held because its last events are lost
  std::vector<JobId> over;        ///< open by those events, but over by the history: they stay over

  static constexpr std::size_t kMostNamed = 1'000;
};

/// Makes a new store of what can be read of a damaged one, by way of a copy beside the new one. The
/// new store has no gap: of a master it has the newest snapshot that can be read and the events
/// behind it up to the first that is missing. Its owner asks others which numbers were given out,
/// as that of a restored backup does. When events of a master are lost, or that cannot be ruled
/// out, all its open jobs are held, so that no task runs again before a user says so, and those
/// that its history has are over. An error when the store is in use, the new folder is not empty,
/// or there is no room.
Expected<SalvageReport, StoreError> salvage_store(const SalvageOrder& order);

}  // namespace muster
