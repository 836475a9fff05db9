#pragma once

#include <chrono>

#include "model/time.hpp"
#include "schedulers/sampling/local_queue.hpp"
#include "schedulers/sampling/pigeon.hpp"
#include "schedulers/sampling/probe_scheduler.hpp"

namespace muster::sampling {

/// Parameters of the actors of every sampling group.
struct GroupParams {
  Duration network_delay{std::chrono::microseconds{500}};  ///< between any two parties, one way
  double cutoff_s = 0;  ///< a job whose tasks take longer by its hint is long; 0: no job is
  QueueRules queue;     ///< of the workers

  bool is_long(double estimate_s) const { return cutoff_s > 0 && estimate_s > cutoff_s; }
};

/// Bound between short and long jobs in the Yahoo trace of the three papers.
inline constexpr double kYahooCutoff_s = 90.5811;

/// Parameters of Sparrow.
struct SparrowParams : GroupParams {
  ProbeRules probes;
};

/// Parameters of Eagle. The defaults are the paper's.
struct EagleParams : GroupParams {
  EagleParams() {
    cutoff_s = kYahooCutoff_s;
    queue.sticky = true;
    queue.shortest_first = true;
    queue.reject_behind_long = true;
    probes.min_probes = 20;
    probes.replacement = true;
    probes.retry_rounds = 1;
    probes.short_partition = 0.02;
  }

  ProbeRules probes;
};

/// Parameters of Pigeon.
struct PigeonParams : GroupParams {
  PigeonParams() { cutoff_s = kYahooCutoff_s; }

  PigeonRules rules;
};

}  // namespace muster::sampling
