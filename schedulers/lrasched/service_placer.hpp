#pragma once

#include <cstdint>
#include <vector>

#include "schedulers/lrasched/best_nodes.hpp"

namespace muster::lrasched {

/// Finds nodes for the replicas of one service after another, and takes the room.
class ServicePlacer {
 public:
  explicit ServicePlacer(NodeRooms& rooms) : rooms_(rooms) {}

  /// Places all of the service's replicas, one after the other onto the node of the highest fitness
  /// (the lower number of two) that has fewer than `most_a_node` of it. Where nodes are of several
  /// zones, onto one in the zone that has fewest of it; a node of zone 0 only where there is no
  /// other. They join `spots`, which says where replicas of it stand. False: they do not all fit,
  /// and nothing has changed.
  bool place(const Service& service, const Fitness& fitness, Spots& spots);

  /// Likewise, but places as many as fit, and returns how many these are.
  std::uint32_t place_some(const Service& service, const Fitness& fitness, Spots& spots);

  /// The node of each replica that the last call placed.
  const std::vector<std::uint32_t>& taken() const { return taken_; }

 private:
  std::uint32_t next_zone() const;

  NodeRooms& rooms_;
  BestNodes best_;
  std::vector<std::vector<NodeChoice>> open_;  ///< of each zone, a heap with the best on top
  std::vector<std::uint32_t> in_zone_;         ///< replicas of the service
  std::vector<std::uint32_t> taken_;
};

}  // namespace muster::lrasched
