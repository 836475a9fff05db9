#pragma once

#include "schedulers/policy_module.hpp"

namespace muster {

// The function that describes each policy, defined in its folder; schedulers/policies.def is the
// list.
#define MUSTER_POLICY(NAME) PolicyModule NAME##_module();
#include "schedulers/policies.def"
#undef MUSTER_POLICY

}  // namespace muster
