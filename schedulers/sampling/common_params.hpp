#pragma once

#include "schedulers/describe.hpp"
#include "schedulers/sampling/group_params.hpp"

// Parameters that more than one sampling group has, each in one wording.

namespace muster::sampling {

inline constexpr std::uint32_t kMostProbes = 1'000'000;
inline constexpr std::uint32_t kMostGroups = 1'000'000;
inline constexpr double kMostDelay_ms = 60'000;

/// Adds cutoff_s: which jobs are long.
template <class P>
Description<P>& cutoff(Description<P>& group) {
  return group.param("cutoff_s", &P::cutoff_s, params::number(params::above(0).up_to(1e12)),
                     "a job is long when its runtime hint is more seconds than this");
}

/// Adds probe_ratio.
template <class P>
Description<P>& probe_ratio(Description<P>& group) {
  return group.param("probe_ratio", in(&P::probes, &ProbeRules::probe_ratio),
                     params::number(params::above(0).up_to(100)), "probes a task");
}

/// Adds min_probes.
template <class P>
Description<P>& min_probes(Description<P>& group) {
  return group.param("min_probes", in(&P::probes, &ProbeRules::min_probes),
                     params::whole(1, kMostProbes), "probes a job at least");
}

/// Adds replacement: how workers are drawn.
template <class P>
Description<P>& replacement(Description<P>& group) {
  return group.param("replacement", in(&P::probes, &ProbeRules::replacement), params::flag(),
                     "draw each worker from all, not from those not yet drawn");
}

/// Adds skip_blocked, which sets the given member.
template <class P, class Member>
Description<P>& skip_blocked(Description<P>& group, Member member) {
  return group.param("skip_blocked", member, params::flag(),
                     "tasks that fit may pass earlier ones that do not");
}

/// Adds network_delay_ms.
template <class P>
Description<P>& network_delay(Description<P>& group) {
  return group.param("network_delay_ms", &P::network_delay,
                     params::in_milliseconds(params::from(0).up_to(kMostDelay_ms)),
                     "milliseconds that a message takes between any two parties");
}

}  // namespace muster::sampling
