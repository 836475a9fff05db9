#pragma once

#include <cstdint>
#include <span>

#include "model/time.hpp"
#include "schedulers/muster/gather_pieces.hpp"

namespace muster::own {

/// For how long a task of the round's input may be left without a place from now on, by its age
/// now, with all that wait together with it; 0: not at all.
Duration left_to_wait(const RoundParts& parts, std::uint32_t number,
                      std::span<const std::uint32_t> together);

}  // namespace muster::own
