#include "replay/replayed_policy.hpp"

#include "serve/solver/cbc_solver.hpp"

namespace muster::replay {

Expected<std::unique_ptr<Policy>, PolicyError> replayed_policy(const PolicySpec& policy,
                                                               const Catalog& catalog,
                                                               std::uint32_t masters,
                                                               const PairTruth& pairs) {
  PolicyServices services = policy_services(SolverStop::nodes);
  services.pairs = pairs;
  return make_policy(policy, catalog, masters, services);
}

}  // namespace muster::replay
