#pragma once

#include "schedulers/muster/round_layout.hpp"

namespace muster::own {

/// Puts every waiting task where it is worth most: on an instance of the layout, on one to be
/// rented, or nowhere yet where it may wait. Higher priorities first, and among equals what is
/// worth most, since it decides which types are rented. A gang gets places for all or none.
/// O(kinds x hosts + tasks x log hosts) looks at a host.
void place_waiting(const RoundParts& parts, RoundLayout& layout);

}  // namespace muster::own
