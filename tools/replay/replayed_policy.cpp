#include "tools/replay/replayed_policy.hpp"

#include "tools/solver/cbc_solver.hpp"

namespace muster::replay {

Expected<std::unique_ptr<Policy>, PolicyError> replayed_policy(const PolicySpec& policy,
                                                               const Catalog& catalog,
                                                               std::uint32_t masters) {
  return make_policy(policy, catalog, masters, policy_services(SolverStop::nodes));
}

}  // namespace muster::replay
