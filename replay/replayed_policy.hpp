#pragma once

#include <cstdint>
#include <memory>

#include "schedulers/registry.hpp"

namespace muster::replay {

/// The policy of one of so many masters of a replay: a solver that it is handed counts nodes, so
/// that the same run decides the same. `pairs` are the true rates of its world.
Expected<std::unique_ptr<Policy>, PolicyError> replayed_policy(const PolicySpec& policy,
                                                               const Catalog& catalog,
                                                               std::uint32_t masters,
                                                               const PairTruth& pairs);

}  // namespace muster::replay
