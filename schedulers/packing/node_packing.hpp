#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "model/ids.hpp"
#include "model/plan.hpp"

namespace muster {

/// An instance, or one that is to be, as a place for workers.
struct PackingNode {
  PlaceTarget at;
  TypeId type;
  Resources free;
  bool ready = false;   ///< workers can start there
  bool wanted = false;  ///< some job is to have workers there, now or when it is ready
  Market market = Market::on_demand;
  bool suits = true;  ///< those who are served now may be there
  /// The most of them that may be there, whatever room there is.
  std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
};

/// Workers on one of the nodes.
struct NodeShare {
  std::size_t node = 0;  ///< its position
  std::uint32_t workers = 0;
};

/// How many workers of the demand have room in what is free.
std::uint32_t workers_in(const Resources& free, const Resources& demand);

/// Demand of each worker of a job, and how many of them a whole node holds.
struct WorkerDemand {
  Resources amount;
  std::uint32_t node_holds = 1;
};

/// Room for that number of workers on as few nodes as hold them: empty ones as far as they fill
/// them, and for the rest the one with the least room that has enough. `ready_only`: on no node
/// that is not. Nothing: there is no such room. Nothing is taken: see take().
std::optional<std::vector<NodeShare>> pack_workers(const std::vector<PackingNode>& nodes,
                                                   std::uint32_t workers,
                                                   const WorkerDemand& demand, bool ready_only);

/// The workers have these places from now on.
void take(std::vector<PackingNode>& nodes, const std::vector<NodeShare>& shares,
          const Resources& demand);

}  // namespace muster
