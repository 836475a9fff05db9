#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/rng.hpp"
#include "schedulers/lrasched/best_nodes.hpp"
#include "schedulers/lrasched/period_placement.hpp"
#include "schedulers/lrasched/service_placer.hpp"

namespace muster::lrasched {

/// Bounds of a search that moves what has not started.
struct MoveRules {
  std::uint32_t rounds = 20;         ///< of single moves and another try for the rest
  std::uint32_t tries_a_node = 100;  ///< single moves that a round looks at, for each node
  std::uint32_t looked_at = 40;      ///< nodes on which a replica looks for one that makes room
};

/// Finds room for services that found no room, by moving replicas that have not started: others
/// make way where one of them fits elsewhere, and single moves that leave more balanced room are
/// made between the tries. Replicas move that this placement has put somewhere; those that stood
/// before stay.
class ServiceMoves {
 public:
  struct Parts {
    NodeRooms& rooms;
    std::span<const Service> services;
    const Demand& demand;
    PlacementRules rules;
  };
  /// `standing`: where replicas stood before; empty: nowhere. Parts and placement outlive this.
  ServiceMoves(const Parts& parts, PeriodPlacement& placement, std::span<const Spots> standing);

  /// Places further services whole, until all are or the rounds are over.
  void run(const MoveRules& rules, Rng& rng);

 private:
  /// Replicas of a service on a node that may move.
  struct Guest {
    std::uint32_t service = 0;
    std::uint32_t count = 0;
  };
  struct Step {
    std::uint32_t service = 0;
    std::uint32_t node = 0;
    bool came = false;
  };
  /// A guest of `node` that makes way.
  struct Way {
    double value = 0;
    std::uint32_t node = 0, service = 0, target = 0;
  };
  /// The two best nodes for one more replica of a service.
  struct Targets {
    bool known = false;
    std::vector<NodeChoice> best;
  };

  bool try_rest(const MoveRules& rules);
  bool place(std::uint32_t service, const MoveRules& rules);
  std::optional<Way> way_for(std::uint32_t service, std::uint32_t looked_at);
  const Targets& targets_of(std::uint32_t service);
  std::vector<std::uint32_t> least_lacking(std::uint32_t service, std::uint32_t looked_at) const;
  void try_single_move(Rng& rng);
  void come(std::uint32_t service, std::uint32_t node);
  void leave(std::uint32_t service, std::uint32_t node);
  void note_guest(std::uint32_t service, std::uint32_t node, int change);
  void undo_to(std::size_t steps);

  Parts p_;
  PeriodPlacement& placement_;
  ServicePlacer placer_;
  BestNodes best_;
  std::vector<std::uint32_t> order_;
  std::vector<Fitness> fitness_;            ///< of each service
  std::vector<std::vector<Guest>> guests_;  ///< of each node
  std::vector<Targets> targets_;            ///< of each service, for the search at hand
  std::vector<Step> steps_;                 ///< done for the service at hand
  Amounts per_mean_{};
};

/// Phase 1 with moves of what it has placed itself. Takes the room.
PeriodPlacement place_with_moves(const ServiceMoves::Parts& parts, const MoveRules& moves, Rng& rng,
                                 std::vector<Spots> standing = {});

}  // namespace muster::lrasched
