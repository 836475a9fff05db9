#pragma once

#include "schedulers/muster/round_layout.hpp"

namespace muster::own {

/// Puts every waiting task where it is worth most: on an instance of the layout, on one to be
/// rented, or nowhere yet where it may wait. Higher priorities first, and among equals what is
/// worth most, since it decides which types are rented. A gang gets places for all or none.
/// O(kinds x hosts with room + tasks x log hosts) looks at a host; from `most` looks at one task
/// beside another on each further kind looks at a few hosts. Answers the number of these looks.
std::uint64_t place_waiting(const RoundParts& parts, RoundLayout& layout, std::uint64_t most);

}  // namespace muster::own
