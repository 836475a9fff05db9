#include "schedulers/sampling/common_params.hpp"

namespace muster {

PolicyModule sparrow_module() {
  using namespace sampling;
  auto group = describe<SparrowParams>(
      "sparrow",
      "Sparrow (SOSP'13): batch sampling with late binding, over a fixed fleet; replay only");
  probe_ratio(group);
  min_probes(group);
  replacement(group);
  group.param("cancellation", in(&SparrowParams::probes, &ProbeRules::cancellation), params::flag(),
              "cancel probes that are no longer needed");
  skip_blocked(group, in(&SparrowParams::queue, &QueueRules::skip_blocked));
  network_delay(group);
  return group.composed_as("sparrow");
}

}  // namespace muster
