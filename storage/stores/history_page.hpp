#pragma once

#include "storage/stores/history.hpp"

namespace muster {

/// A job that is over as filters ask for it; valid while the entry is. Both kinds of history ask
/// the sieve of their page about it, as masters do about jobs that are not over.
inline FilteredJob filtered(const HistoryEntry& entry) {
  return {entry.user, entry.name, entry.submitted, entry.failed, entry.outcome, entry.exit_code};
}

}  // namespace muster
