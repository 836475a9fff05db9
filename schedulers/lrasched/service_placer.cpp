#include "schedulers/lrasched/service_placer.hpp"

#include <algorithm>
#include <utility>

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

/// A replica changes the fitness of its own node alone. So of the best nodes of a zone, as many as
/// there are replicas, one that is untouched is left at each step, and no other node is above it.
std::uint32_t ServicePlacer::place_some(const Service& service, const Fitness& fitness,
                                        Spots& spots) {
  taken_.clear();
  std::swap(open_, best_.find_by_zone(rooms_, service, fitness, spots, service.replicas));
  for (auto& open : open_) std::make_heap(open.begin(), open.end(), best_on_top);
  in_zone_.assign(open_.size(), 0);
  if (open_.size() > 1) {
    for (const Spot& spot : spots) in_zone_[rooms_.zone(spot.node)] += spot.count;
  }
  while (taken_.size() < service.replicas) {
    const std::uint32_t zone = next_zone();
    std::vector<NodeChoice>& open = open_[zone];
    if (open.empty()) break;
    std::pop_heap(open.begin(), open.end(), best_on_top);
    const std::uint32_t node = open.back().node;
    open.pop_back();
    rooms_.take(node, service.size);
    put_at(spots, node);
    taken_.push_back(node);
    ++in_zone_[zone];
    const double next = fitness.of(rooms_.free(node));
    if (next == Fitness::kNoRoom || count_at(spots, node) >= service.most_a_node) continue;
    open.push_back({next, node});
    std::push_heap(open.begin(), open.end(), best_on_top);
  }
  return static_cast<std::uint32_t>(taken_.size());
}

/// That of the next replica; 0 where there is no other node.
std::uint32_t ServicePlacer::next_zone() const {
  std::uint32_t next = 0;
  for (std::uint32_t zone = 1; zone < open_.size(); ++zone) {
    if (open_[zone].empty()) continue;
    const bool is_better =
        next == 0 || in_zone_[zone] < in_zone_[next] ||
        (in_zone_[zone] == in_zone_[next] && better(open_[zone].front(), open_[next].front()));
    if (is_better) next = zone;
  }
  return next;
}

}  // namespace muster::lrasched
