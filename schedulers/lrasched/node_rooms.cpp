#include "schedulers/lrasched/node_rooms.hpp"

#include <algorithm>
#include <cmath>

#include "model/check.hpp"

namespace muster::lrasched {

std::uint32_t how_many_fit(const Amounts& size, const Amounts& room, std::uint32_t most) {
  double count = most;
  for (std::size_t k = 0; k < kMostDims; ++k) {
    if (size[k] > 0) count = std::min(count, std::floor((room[k] + kRoomEpsilon) / size[k]));
  }
  return static_cast<std::uint32_t>(std::max(count, 0.0));
}

NodeRooms::NodeRooms(std::size_t dims) : dims_(dims) {
  MUSTER_CHECK(dims >= 1 && dims <= kMostDims, "rooms have 1 to 6 dimensions");
}

NodeRooms::NodeRooms(std::size_t dims, std::span<const Amounts> nodes) : NodeRooms(dims) {
  for (const Amounts& node : nodes) add(node);
}

std::uint32_t NodeRooms::add(const Amounts& free, std::uint32_t kind, std::uint32_t zone) {
  for (std::size_t k = 0; k < dims_; ++k) {
    free_[k].push_back(free[k]);
    total_[k] += free[k];
  }
  kinds_.push_back(kind);
  zone_of_.push_back(zone);
  zones_ = std::max(zones_, zone + 1);
  return count() - 1;
}

void NodeRooms::remove_last() {
  for (std::size_t k = 0; k < dims_; ++k) {
    total_[k] -= free_[k].back();
    free_[k].pop_back();
  }
  kinds_.pop_back();
  zone_of_.pop_back();
}

Amounts NodeRooms::free(std::uint32_t node) const {
  Amounts room{};
  for (std::size_t k = 0; k < dims_; ++k) room[k] = free_[k][node];
  return room;
}

void NodeRooms::take(std::uint32_t node, const Amounts& size, std::int64_t count) {
  for (std::size_t k = 0; k < dims_; ++k) {
    const double amount = static_cast<double>(count) * size[k];
    free_[k][node] -= amount;
    total_[k] -= amount;
  }
}

}  // namespace muster::lrasched
