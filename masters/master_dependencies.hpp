#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/catalog.hpp"
#include "model/fleet.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// Parts of a master besides its settings, and which master it is.
struct MasterDependencies {
  const Catalog* catalog = nullptr;
  std::unique_ptr<Policy> policy;
  std::uint64_t seed = 1;
  std::string name;                  ///< the chance of each round depends on it
  std::uint64_t first_instance = 0;  ///< masters that share a cloud number instances apart
  bool keep_history = false;         ///< jobs that are over come out of commits
  Fleet fleet;                       ///< kept whatever the policy wants; empty: rented as it wants
};

}  // namespace muster
