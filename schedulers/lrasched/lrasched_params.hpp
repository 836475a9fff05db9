#pragma once

#include <cstdint>

#include "schedulers/lrasched/period_placement.hpp"
#include "schedulers/lrasched/size_search.hpp"
#include "schedulers/muster/muster_params.hpp"

namespace muster::lrasched {

/// Looks at one instance for one service that cost about as much as a step of `muster`.
inline constexpr std::uint64_t kLooksOfStep = 16;

/// How services are placed on the instances that are there.
enum class Scheme : std::uint8_t {
  phase_1,    ///< Algorithm 3 of LRASched, by the rules of the parameters
  first_fit,  ///< the baseline FFD: on the first instance with room
  program     ///< the programs (11) to (19), by a solver
};

/// Instances for services that find no room.
enum class Phase2 : std::uint8_t {
  rent,  ///< the offering with the least price for what it would hold, after all room that is there
  paper  ///< further instances are filled one after the other, and the present ones are left
};

/// Parameters of the policy. The defaults are those that place most in the paper's simulation
/// (tools/bench/service_placement.cpp).
struct LraParams {
  /// For all but services; its rounds are those of services, too, and are held at each period.
  /// Empty instances go back at once, and there a round is held when room comes free, too.
  own::MusterParams batch{.eager = false, .keep = 0, .at_once = true};
  Scheme scheme = Scheme::phase_1;
  PlacementRules rules{};
  std::uint32_t limit = 0;  ///< replicas of a service on one instance at most; 0: any number
  /// Likewise of one with a goal, where there is no other limit and instances are enough.
  std::uint32_t goal_limit = 2;
  bool moves = true;   ///< replicas that the round itself has placed make way
  bool clears = true;  ///< running replicas leave an instance where that saves its price
  Phase2 phase2 = Phase2::rent;
  /// Share of the price by which a replica may cost more for its service to be spread over zones.
  double spread = 0.1;
  /// The number of replicas of a service with a goal on one instance is learnt from those numbers.
  bool learns_limits = true;
  SizeRules sizes{};             ///< of services that let a policy choose them
  std::uint32_t nodes = 2'000;   ///< of the solver's search for a round, in a replay
  double seconds = 5;            ///< of the solver in a round of a live cluster
  std::uint32_t cells = 20'000;  ///< services times instances up to which the solver is asked
};

}  // namespace muster::lrasched
