#pragma once

#include <memory>
#include <string>

#include "schedulers/packing/programs/integer_program.hpp"
#include "schedulers/pair_truth.hpp"

namespace muster {

/// Services that the process hands to policies, because a policy may not do such work by itself.
struct PolicyServices {
  std::shared_ptr<const IntegerSolver> solver;
  /// Why there is no solver, and how to get one: policies that need it are not made then. Empty
  /// without a solver: they are made, and do without.
  std::string no_solver;
  /// The true rates of pairs of tasks; in replays only.
  PairTruth pairs{};
};

}  // namespace muster
