#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "schedulers/lrasched/node_rooms.hpp"
#include "schedulers/lrasched/service.hpp"

namespace muster::lrasched {

/// By which of the nodes that have room a replica's is chosen.
enum class Fit : std::uint8_t {
  dot,      ///< equation (21) of LRASched: the dot product of its shares and the node's
  balanced  ///< the node's room keeps its product and looks like the replica
};

/// Fitness of one service's replicas on nodes: the node of the highest one is theirs.
class Fitness {
 public:
  /// Amounts by which both kinds weigh.
  struct Scale {
    Amounts demand{};  ///< in total, of the services that are weighed
    Amounts mean{};    ///< demand of a replica
    Amounts free{};    ///< of all nodes, when the service's turn comes
  };
  /// Nodes that are looked at together.
  static constexpr std::size_t kBlock = 256;
  /// Fitness of a node that has no room.
  static constexpr double kNoRoom = -1e300;

  Fitness(Fit fit, const Amounts& size, const Scale& scale);

  /// Of a node with that room; kNoRoom where the replica does not fit.
  double of(const Amounts& room) const;

  /// No fitness of the kBlock nodes from `first` on is above these; kNoRoom where a replica does
  /// not fit.
  using Bounds = std::array<double, kBlock>;
  void bound_block(const NodeRooms& rooms, std::size_t first, Bounds& bounds) const;

 private:
  void bound_dot(const NodeRooms& rooms, std::size_t first, Bounds& bounds) const;
  void bound_balanced(const NodeRooms& rooms, std::size_t first, Bounds& bounds) const;
  double balance_of(const Amounts& room) const;

  Fit fit_;
  Amounts size_;
  Amounts weight_{};     ///< dot: of a unit of room; balanced: one by the mean demand
  Amounts share_{};      ///< balanced: the replica's size in mean demands
  double per_norm_ = 0;  ///< balanced: weight of the cosine, by the norm of the share
};

}  // namespace muster::lrasched
