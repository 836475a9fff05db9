#pragma once

#include <chrono>

#include "model/time.hpp"
#include "schedulers/sampling/local_queue.hpp"
#include "schedulers/sampling/pigeon.hpp"
#include "schedulers/sampling/probe_scheduler.hpp"

namespace muster::sampling {

/// What the actors of every sampling group have to know.
struct GroupParams {
  Duration network_delay{std::chrono::microseconds{500}};  ///< between any two parties, one way
  double cutoff_s = 0;  ///< a job whose tasks take longer by its hint is long; 0: none is
  QueueRules queue;     ///< of the workers

  bool is_long(double estimate_s) const { return cutoff_s > 0 && estimate_s > cutoff_s; }
};

/// What tells short jobs from long ones in the Yahoo trace of the three papers.
inline constexpr double kYahooCutoff_s = 90.5811;

/// What Sparrow can be told.
struct SparrowParams : GroupParams {
  ProbeRules probes;
};

/// What Eagle can be told. The defaults are the paper's.
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

/// What Pigeon can be told.
struct PigeonParams : GroupParams {
  PigeonParams() { cutoff_s = kYahooCutoff_s; }

  PigeonRules rules;
};

}  // namespace muster::sampling
