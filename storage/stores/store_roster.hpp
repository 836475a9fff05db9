#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/roster.hpp"
#include "storage/stores/site_store.hpp"
#include "storage/stores/store.hpp"

namespace muster {

/// The roster that the store keeps; an empty one when it keeps no roster.
Expected<ClusterRoster, StoreError> load_roster(const Store& store);

/// Keeps the roster for good, in place of the one before.
StoreTrouble keep_roster(Store& store, const ClusterRoster& roster);

/// Why the store cannot have that roster: it has made ids with, or waits for, a number that would
/// be somebody else's. Empty when it can.
Expected<std::string, StoreError> obstacle_to(const ClusterRoster& roster, const Store& store);

/// Whether the store's owner has made ids, answers for jobs or has rented anything: its records
/// mean something by the numbers of its roster.
Expected<bool, StoreError> has_numbered(const Store& store);

/// For whom a site's store has jobs that they have not taken yet, and how many.
Expected<std::map<HandoffTarget, std::uint64_t>, StoreError> handoffs_by_target(const Store& store);

/// How many instances of each master, by its number, a cloud's store has that are not gone.
Expected<std::map<std::uint32_t, std::uint64_t>, StoreError> rented_by_master(const Store& store);

}  // namespace muster
