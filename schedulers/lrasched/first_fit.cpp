#include "schedulers/lrasched/first_fit.hpp"

#include <utility>
#include <vector>

namespace muster::lrasched {
namespace {

/// On distinct nodes, the first that have room; false: they are too few, and nothing has changed.
bool place_on_first(NodeRooms& rooms, const Service& service, Spots& spots) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t node = 0; node < rooms.count() && found.size() < service.replicas; ++node) {
    if (!service.may_be_on(rooms.kind(node))) continue;
    if (count_at(spots, node) == 0 && fits(service.size, rooms.free(node))) found.push_back(node);
  }
  if (found.size() < service.replicas) return false;
  for (const std::uint32_t node : found) {
    rooms.take(node, service.size);
    put_at(spots, node);
  }
  return true;
}

}  // namespace

PeriodPlacement place_first_fit(NodeRooms& rooms, std::span<const Service> services,
                                const Demand& demand, FirstFit kind, std::vector<Spots> standing) {
  std::vector<Service> apart(services.begin(), services.end());
  for (Service& service : apart) service.most_a_node = 1;
  if (kind == FirstFit::dot) {
    return place_period(rooms, apart, demand, kPaperRules, std::move(standing));
  }
  PeriodPlacement placement{std::move(standing), std::vector<char>(apart.size(), 0)};
  placement.spots.resize(apart.size());
  for (const std::uint32_t i : placing_order(apart, demand, kPaperRules)) {
    placement.whole[i] = place_on_first(rooms, apart[i], placement.spots[i]) ? 1 : 0;
  }
  return placement;
}

}  // namespace muster::lrasched
