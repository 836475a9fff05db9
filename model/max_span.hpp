#pragma once

#include "model/time.hpp"

namespace muster {

/// The longest duration that is taken from a peer or a file. Two of them and the time of a machine
/// add up without an overflow.
inline constexpr Duration kMaxSpan = from_seconds(100.0 * 365 * 86400);

}  // namespace muster
