#include "schedulers/packing/node_packing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace muster {
namespace {

/// Room that is short of a whole worker by less is rounding error.
constexpr double kSlack = 1e-9;

}  // namespace

std::uint32_t workers_in(const Resources& free, const Resources& demand) {
  double room = std::numeric_limits<std::uint32_t>::max();
  for (const Resource kind : kAllResources) {
    if (demand[kind] > 0) room = std::min(room, free[kind] / demand[kind]);
  }
  return static_cast<std::uint32_t>(std::max(0.0, std::floor(room + kSlack)));
}

std::optional<std::vector<NodeShare>> pack_workers(const std::vector<PackingNode>& nodes,
                                                   std::uint32_t workers,
                                                   const WorkerDemand& demand, bool ready_only) {
  std::vector<NodeShare> shares;
  std::uint32_t rest = workers % demand.node_holds;
  std::uint32_t whole = workers / demand.node_holds;
  std::optional<NodeShare> tightest;
  std::uint32_t least_room = std::numeric_limits<std::uint32_t>::max();
  // Nodes that are ready come first in the list: they are taken before those that are not.
  for (std::size_t i = 0; i < nodes.size() && (whole > 0 || rest > 0); ++i) {
    if (!nodes[i].suits || (ready_only && !nodes[i].ready)) continue;
    const std::uint32_t room = std::min(workers_in(nodes[i].free, demand.amount), nodes[i].most);
    if (whole > 0 && room >= demand.node_holds) {
      shares.push_back({i, demand.node_holds});
      --whole;
    } else if (rest > 0 && room >= rest && room < least_room) {
      tightest = NodeShare{i, rest};
      least_room = room;
    }
  }
  if (whole > 0 || (rest > 0 && !tightest)) return std::nullopt;
  if (rest > 0) shares.push_back(*tightest);
  return shares;
}

void take(std::vector<PackingNode>& nodes, const std::vector<NodeShare>& shares,
          const Resources& demand) {
  for (const NodeShare& share : shares) {
    PackingNode& node = nodes[share.node];
    for (const Resource kind : kAllResources) node.free[kind] -= demand[kind] * share.workers;
    node.wanted = true;
  }
}

}  // namespace muster
