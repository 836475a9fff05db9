#pragma once

#include "storage/stores/history.hpp"

namespace muster {

/// Whether a page shows jobs such as this one, wherever the page begins. Both kinds of history ask
/// it; JobsQuestion::takes() has the rule for jobs that are not over.
inline bool takes(const HistoryPage& page, const HistoryEntry& entry) {
  const auto& [user, below, limit] = page;
  static_cast<void>(below);  // where the page begins and ends is for those who go over the jobs
  static_cast<void>(limit);
  return user.empty() || entry.user == user;
}

}  // namespace muster
