#include "schedulers/lrasched/best_nodes.hpp"

#include <algorithm>

namespace muster::lrasched {
namespace {

/// Nodes come in the order of their numbers, so that the first of equal ones stays.
void consider(const NodeChoice& choice, std::size_t wanted, std::vector<NodeChoice>& best) {
  if (best.size() == wanted) {
    if (!better(choice, best.front())) return;
    std::pop_heap(best.begin(), best.end(), better);
    best.back() = choice;
  } else {
    best.push_back(choice);
  }
  std::push_heap(best.begin(), best.end(), better);
}

}  // namespace

std::vector<NodeChoice>& BestNodes::find(const NodeRooms& rooms, const Service& service,
                                         const Fitness& fitness, const Spots& spots,
                                         std::size_t wanted) {
  best_.resize(1);
  run({rooms, service, fitness, spots, wanted});
  return best_.front();
}

std::vector<std::vector<NodeChoice>>& BestNodes::find_by_zone(const NodeRooms& rooms,
                                                              const Service& service,
                                                              const Fitness& fitness,
                                                              const Spots& spots,
                                                              std::size_t wanted) {
  best_.resize(rooms.zones());
  run({rooms, service, fitness, spots, wanted});
  return best_;
}

void BestNodes::run(const Search& search) {
  const auto& [rooms, service, fitness, spots, wanted] = search;
  for (auto& best : best_) best.clear();
  if (wanted == 0 || service.most_a_node == 0) return;
  const bool apart = best_.size() > 1;
  const auto best_at = [&](std::uint32_t node) -> std::vector<NodeChoice>& {
    return best_[apart ? rooms.zone(node) : 0];
  };
  const auto look_at = [&](std::uint32_t node) {
    if (!service.may_be_on(rooms.kind(node))) return;
    if (count_at(spots, node) >= service.most_a_node) return;
    const double value = fitness.of(rooms.free(node));
    if (value != Fitness::kNoRoom) consider({value, node}, wanted, best_at(node));
  };
  const std::size_t nodes = rooms.count();
  std::size_t first = 0;
  Fitness::Bounds bounds;
  for (; first + Fitness::kBlock <= nodes; first += Fitness::kBlock) {
    fitness.bound_block(rooms, first, bounds);
    for (std::size_t j = 0; j < Fitness::kBlock; ++j) {
      const auto node = static_cast<std::uint32_t>(first + j);
      const std::vector<NodeChoice>& best = best_at(node);
      const double least = best.size() < wanted ? Fitness::kNoRoom : best.front().fitness;
      if (bounds[j] > least) look_at(node);
    }
  }
  for (; first < nodes; ++first) look_at(static_cast<std::uint32_t>(first));
}

}  // namespace muster::lrasched
