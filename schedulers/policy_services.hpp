#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "model/expected.hpp"
#include "schedulers/packing/programs/integer_program.hpp"
#include "schedulers/pair_truth.hpp"
#include "schedulers/policy_spec.hpp"

namespace muster {

/// The text of a file that a parameter names.
using ReadPolicyFile =
    std::function<Expected<std::string, PolicyError>(const std::filesystem::path&)>;

/// Services that the process hands to policies, because a policy may not do such work by itself.
struct PolicyServices {
  std::shared_ptr<const IntegerSolver> solver;
  /// Why there is no solver, and how to get one: policies that need it are not made then. Empty
  /// without a solver: they are made, and do without.
  std::string no_solver;
  /// The true rates of pairs of tasks; in replays only.
  PairTruth pairs{};
  /// Empty: policies are made without the files that they are told of.
  ReadPolicyFile read_file{};
};

}  // namespace muster
