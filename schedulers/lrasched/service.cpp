#include "schedulers/lrasched/service.hpp"

#include <algorithm>

#include "model/check.hpp"

namespace muster::lrasched {
namespace {

template <class List>
auto spot_of(List& spots, std::uint32_t node) {
  return std::lower_bound(spots.begin(), spots.end(), node,
                          [](const Spot& spot, std::uint32_t at) { return spot.node < at; });
}

}  // namespace

std::uint32_t count_at(const Spots& spots, std::uint32_t node) {
  const auto spot = spot_of(spots, node);
  return spot != spots.end() && spot->node == node ? spot->count : 0;
}

std::uint32_t replicas_in(const Spots& spots) {
  std::uint32_t replicas = 0;
  for (const Spot& spot : spots) replicas += spot.count;
  return replicas;
}

void put_at(Spots& spots, std::uint32_t node) {
  const auto spot = spot_of(spots, node);
  if (spot != spots.end() && spot->node == node) {
    ++spot->count;
  } else {
    spots.insert(spot, {node, 1});
  }
}

void take_from(Spots& spots, std::uint32_t node) {
  const auto spot = spot_of(spots, node);
  MUSTER_CHECK(spot != spots.end() && spot->node == node, "no replica to take from the node");
  if (--spot->count == 0) spots.erase(spot);
}

}  // namespace muster::lrasched
