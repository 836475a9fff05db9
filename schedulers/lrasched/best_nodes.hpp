#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedulers/lrasched/fitness.hpp"
#include "schedulers/lrasched/node_rooms.hpp"
#include "schedulers/lrasched/service.hpp"

namespace muster::lrasched {

/// A node that a replica may come to.
struct NodeChoice {
  double fitness = 0;
  std::uint32_t node = 0;
};
/// The higher fitness, and of equal ones the lower number.
inline bool better(const NodeChoice& a, const NodeChoice& b) {
  return a.fitness != b.fitness ? a.fitness > b.fitness : a.node < b.node;
}

/// The nodes of the highest fitness, found in one pass over all. Keeps its memory between searches.
class BestNodes {
 public:
  /// Up to `wanted` nodes that hold a replica more and have fewer than `most_a_node` of the
  /// service, in no order. They stand until the next search, and are the caller's to reorder.
  std::vector<NodeChoice>& find(const NodeRooms& rooms, const Service& service,
                                const Fitness& fitness, const Spots& spots, std::size_t wanted);
  /// Likewise up to that many of each zone.
  std::vector<std::vector<NodeChoice>>& find_by_zone(const NodeRooms& rooms, const Service& service,
                                                     const Fitness& fitness, const Spots& spots,
                                                     std::size_t wanted);

 private:
  struct Search {
    const NodeRooms& rooms;
    const Service& service;
    const Fitness& fitness;
    const Spots& spots;
    std::size_t wanted = 0;  ///< of each zone
  };
  void run(const Search& search);

  /// Of each zone that is told apart, a heap with the worst on top while a search lasts.
  std::vector<std::vector<NodeChoice>> best_;
};

}  // namespace muster::lrasched
