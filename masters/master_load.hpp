#pragma once

#include "config/master_settings.hpp"
#include "masters/master_memory.hpp"

namespace muster {

/// How much of what a master has or may have is taken: see docs/routing.md. As many waiting tasks
/// as MasterSettings::queue_capacity are a load of 1.
double master_load(const MasterFacts& facts, const MasterSettings& settings, bool fixed_fleet);

}  // namespace muster
