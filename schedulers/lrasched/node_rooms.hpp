#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muster::lrasched {

inline constexpr std::size_t kMostDims = 6;

/// An amount of each resource; those beyond the dimensions in use are 0.
using Amounts = std::array<double, kMostDims>;

/// Sums of amounts are rounded: a replica fits into room that is smaller by no more than this.
inline constexpr double kRoomEpsilon = 1e-9;

/// Whether one replica of that size fits into the room.
inline bool fits(const Amounts& size, const Amounts& room) {
  bool enough = true;
  for (std::size_t k = 0; k < kMostDims; ++k) enough &= size[k] <= room[k] + kRoomEpsilon;
  return enough;
}

/// How many replicas fit together, `most` at most.
std::uint32_t how_many_fit(const Amounts& size, const Amounts& room, std::uint32_t most);

/// The free room of nodes that are numbered from 0, an array for each dimension: a pass over all of
/// them reads memory from front to back.
class NodeRooms {
 public:
  /// `dims`: 1 to kMostDims.
  explicit NodeRooms(std::size_t dims);
  NodeRooms(std::size_t dims, std::span<const Amounts> nodes);

  /// Returns the number of the new node. `kind`: by which services tell where they may be. `zone`:
  /// over which replicas are spread; 0: over it they are not.
  std::uint32_t add(const Amounts& free, std::uint32_t kind = 0, std::uint32_t zone = 0);
  void remove_last();

  std::size_t dims() const { return dims_; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(free_.front().size()); }
  const std::vector<double>& of_dim(std::size_t k) const { return free_[k]; }
  Amounts free(std::uint32_t node) const;
  std::uint32_t kind(std::uint32_t node) const { return kinds_[node]; }
  std::uint32_t zone(std::uint32_t node) const { return zone_of_[node]; }
  /// Above the number of any node's zone.
  std::uint32_t zones() const { return zones_; }
  /// Of all nodes together.
  const Amounts& total() const { return total_; }

  /// `count` replicas come to the node, or leave it when negative.
  void take(std::uint32_t node, const Amounts& size, std::int64_t count = 1);

 private:
  std::size_t dims_;
  std::array<std::vector<double>, kMostDims> free_;  ///< the first dims_ are in use
  std::vector<std::uint32_t> kinds_;                 ///< of each node
  std::vector<std::uint32_t> zone_of_;               ///< of each node
  std::uint32_t zones_ = 1;
  Amounts total_{};
};

}  // namespace muster::lrasched
