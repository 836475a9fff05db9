#include "schedulers/lrasched/service_placer.hpp"

#include <algorithm>

namespace muster::lrasched {
namespace {

bool best_on_top(const NodeChoice& a, const NodeChoice& b) {
  return better(b, a);
}

}  // namespace

bool ServicePlacer::place(const Service& service, const Fitness& fitness, Spots& spots) {
  if (place_some(service, fitness, spots) == service.replicas) return true;
  for (const std::uint32_t node : taken_) {
    rooms_.take(node, service.size, -1);
    take_from(spots, node);
  }
  taken_.clear();
  return false;
}

/// A replica changes the fitness of its own node alone. So of the best nodes, as many as there are
/// replicas, one that is untouched is left at each step, and no other node is above it.
std::uint32_t ServicePlacer::place_some(const Service& service, const Fitness& fitness,
                                        Spots& spots) {
  taken_.clear();
  std::vector<NodeChoice>& open = best_.find(rooms_, service, fitness, spots, service.replicas);
  std::make_heap(open.begin(), open.end(), best_on_top);
  while (taken_.size() < service.replicas && !open.empty()) {
    std::pop_heap(open.begin(), open.end(), best_on_top);
    const std::uint32_t node = open.back().node;
    open.pop_back();
    rooms_.take(node, service.size);
    put_at(spots, node);
    taken_.push_back(node);
    const double next = fitness.of(rooms_.free(node));
    if (next == Fitness::kNoRoom || count_at(spots, node) >= service.most_a_node) continue;
    open.push_back({next, node});
    std::push_heap(open.begin(), open.end(), best_on_top);
  }
  return static_cast<std::uint32_t>(taken_.size());
}

}  // namespace muster::lrasched
