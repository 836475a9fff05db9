#pragma once

#include <cstdint>
#include <memory>

#include "schedulers/registry.hpp"

namespace muster::replay {

/// The policy of one of `masters` masters of a replay: its solver, if it needs one, counts nodes,
/// so that equal runs decide equally. `pairs` are the true rates of its world.
Expected<std::unique_ptr<Policy>, PolicyError> replayed_policy(const PolicySpec& policy,
                                                               const Catalog& catalog,
                                                               std::uint32_t masters,
                                                               const PairTruth& pairs);

}  // namespace muster::replay
