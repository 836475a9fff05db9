#pragma once

#include "config/master_settings.hpp"

namespace muster::test {

/// Of a master that lets nothing wait: what the cloud refused is asked for again at once, gangs
/// have no turns, no room is kept for who waits long, and what has just begun to run may be moved.
inline MasterSettings plain_settings() {
  MasterSettings settings;
  settings.round_settle = {};
  settings.launch_backoff = {};
  settings.launch_backoff_longest = {};
  settings.gangs = {{}, {}, {}};
  settings.starve_after = {};
  settings.min_stay = {};
  return settings;
}

}  // namespace muster::test
