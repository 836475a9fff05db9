#include "schedulers/sampling/common_params.hpp"

namespace muster {

PolicyModule pigeon_module() {
  using namespace sampling;
  auto group = describe<PigeonParams>(
      "pigeon",
      "Pigeon (SoCC'19): tasks spread evenly over groups of workers with a master each, over a "
      "fixed fleet; replay only");
  cutoff(group);
  group
      .param("groups", in(&PigeonParams::rules, &PigeonRules::groups),
             params::whole(1, kMostGroups), "groups of workers")
      .param("reserved", in(&PigeonParams::rules, &PigeonRules::reserved),
             params::number(params::from(0).below(1)),
             "share of each group's workers for short tasks alone (one at least, unless 0)")
      .param("weight", in(&PigeonParams::rules, &PigeonRules::weight),
             params::whole(0, 1'000'000'000),
             "short tasks in a row before a waiting long one; 0: without end");
  skip_blocked(group, in(&PigeonParams::rules, &PigeonRules::skip_blocked));
  network_delay(group);
  return group.composed_as("pigeon");
}

}  // namespace muster
