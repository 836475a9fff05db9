#pragma once

#include <vector>

#include "schedulers/packing/rounds/round_input.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// For policies that give each task an instance of its own, where the instances are given: of each
/// job of the input, by slot, whether it is a gang of more tasks than it has instances there, which
/// is told so with both numbers and is not to be placed. It may have room when more are there: the
/// policy does not know how many are to come.
std::vector<char> refuse_gangs_wider_than_fleet(const ClusterView& view, const RoundInput& input,
                                                Plan& plan);

}  // namespace muster
