#include "schedulers/packing/programs/max_weight_matching.hpp"

#include <lemon/matching.h>
#include <lemon/smart_graph.h>

// Edmonds' algorithm as LEMON has it, O(nodes x edges x log nodes).

namespace muster {

std::vector<std::uint32_t> max_weight_matching(std::uint32_t nodes,
                                               const std::vector<WeightedEdge>& edges) {
  using Graph = lemon::SmartGraph;
  Graph graph;
  graph.reserveNode(static_cast<int>(nodes));
  graph.reserveEdge(static_cast<int>(edges.size()));
  // SmartGraph numbers nodes from 0 in the order of adding, so that its ids are the caller's.
  for (std::uint32_t i = 0; i < nodes; ++i) graph.addNode();
  Graph::EdgeMap<std::int64_t> weight(graph);
  for (const WeightedEdge& edge : edges) {
    const Graph::Edge added = graph.addEdge(Graph::nodeFromId(static_cast<int>(edge.from)),
                                            Graph::nodeFromId(static_cast<int>(edge.to)));
    weight[added] = edge.weight;
  }
  lemon::MaxWeightedMatching<Graph, Graph::EdgeMap<std::int64_t>> matching(graph, weight);
  matching.run();
  std::vector<std::uint32_t> mates(nodes, kNoMate);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const Graph::Node mate = matching.mate(Graph::nodeFromId(static_cast<int>(i)));
    if (mate != lemon::INVALID) mates[i] = static_cast<std::uint32_t>(Graph::id(mate));
  }
  return mates;
}

}  // namespace muster
