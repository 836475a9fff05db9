#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/plan.hpp"
#include "schedulers/packing/rounds/round_input.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// Priorities that are told apart where room is given away one priority after the other; lower ones
/// share the last turn.
inline constexpr std::size_t kMostPriorities = 16;

/// Tasks that are in the order of the round's input, by falling priority of their jobs. One class
/// when all are equal; no classes without tasks.
std::vector<std::vector<std::uint32_t>> priority_classes(const RoundInput& input,
                                                         std::span<const std::uint32_t> tasks);

/// Lists the plan's launches and places by falling priority: launches by the highest of the tasks
/// meant for them. Parts of equal priority keep their order. The plan check grants in this order.
void order_by_priority(const ClusterView& view, Plan& plan);

}  // namespace muster
