#include "schedulers/lrasched/best_nodes.hpp"

#include <algorithm>

namespace muster::lrasched {

std::vector<NodeChoice>& BestNodes::find(const NodeRooms& rooms, const Service& service,
                                         const Fitness& fitness, const Spots& spots,
                                         std::size_t wanted) {
  best_.clear();
  if (wanted == 0 || service.most_a_node == 0) return best_;
  const auto look_at = [&](std::uint32_t node) {
    if (!service.may_be_on(rooms.kind(node))) return;
    if (count_at(spots, node) >= service.most_a_node) return;
    const double value = fitness.of(rooms.free(node));
    if (value != Fitness::kNoRoom) consider({value, node}, wanted);
  };
  const std::size_t nodes = rooms.count();
  std::size_t first = 0;
  Fitness::Bounds bounds;
  for (; first + Fitness::kBlock <= nodes; first += Fitness::kBlock) {
    fitness.bound_block(rooms, first, bounds);
    for (std::size_t j = 0; j < Fitness::kBlock; ++j) {
      const double least = best_.size() < wanted ? Fitness::kNoRoom : best_.front().fitness;
      if (bounds[j] > least) look_at(static_cast<std::uint32_t>(first + j));
    }
  }
  for (; first < nodes; ++first) look_at(static_cast<std::uint32_t>(first));
  return best_;
}

/// Nodes come in the order of their numbers, so that the first of equal ones stays.
void BestNodes::consider(const NodeChoice& choice, std::size_t wanted) {
  if (best_.size() == wanted) {
    if (!better(choice, best_.front())) return;
    std::pop_heap(best_.begin(), best_.end(), better);
    best_.back() = choice;
  } else {
    best_.push_back(choice);
  }
  std::push_heap(best_.begin(), best_.end(), better);
}

}  // namespace muster::lrasched
