#include "schedulers/sampling/common_params.hpp"

namespace muster {

PolicyModule eagle_module() {
  using namespace sampling;
  auto group = describe<EagleParams>(
      "eagle",
      "Eagle (SoCC'16): long jobs placed centrally, short ones sampled around them, over a fixed "
      "fleet; replay only");
  cutoff(group);
  group.param("short_partition", in(&EagleParams::probes, &ProbeRules::short_partition),
              params::number(params::from(0).below(1)),
              "share of the workers that take no long task (one at least, unless 0)");
  probe_ratio(group);
  min_probes(group);
  replacement(group);
  group
      .param("retry_rounds", in(&EagleParams::probes, &ProbeRules::retry_rounds),
             params::whole(0, 100), "samplings of rejected probes before the short partition")
      .param("sticky", in(&EagleParams::queue, &QueueRules::sticky), params::flag(),
             "a probe serves its job until no task is left")
      .param("srpt", in(&EagleParams::queue, &QueueRules::shortest_first), params::flag(),
             "short jobs with the least remaining time go first")
      .param("starvation_cap", in(&EagleParams::queue, &QueueRules::starvation_cap),
             params::number(params::from(0).up_to(1e9)),
             "most work that may overtake a short task, as a multiple of its own estimate");
  skip_blocked(group, in(&EagleParams::queue, &QueueRules::skip_blocked));
  network_delay(group);
  return group.composed_as("eagle");
}

}  // namespace muster
