#pragma once

#include <string>

#include "model/cluster_state.hpp"

namespace muster::cell {

/// An instance with its type and market.
std::string place_text(const InstanceRow& row, const Catalog& catalog);

/// Of a task that runs where its checkpoints stay behind when it moves, to be appended to where it
/// runs; empty: they go with it, or its job keeps no checkpoints.
std::string own_checkpoints_text(const ClusterState& state, const TaskRow& row);

}  // namespace muster::cell
