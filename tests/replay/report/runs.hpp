#pragma once

#include <string>
#include <utility>

#include "replay/metrics/run_result.hpp"

namespace muster::test {

/// A run with a value for every figure.
inline metrics::RunResult run_of(std::string policy, std::uint64_t seed, double usd) {
  metrics::RunResult run;
  run.policy = std::move(policy);
  run.seed = seed;
  run.jobs_submitted = 200;
  run.jobs_completed = 199;
  run.total_cost_usd = usd;
  run.normalized["total_cost_usd"] = usd / 20736.38;
  run.mean_jct_h = 17.67;
  run.p50_jct_h = 4.5;
  run.p95_jct_h = 90.25;
  run.p99_jct_h = 120;
  run.p50_slowdown = 1.25;
  run.mean_idle_h = 0.1;
  run.mean_normalized_throughput = 0.9;
  run.tasks_per_instance = 2.5;
  run.allocation_gpu = 0.5;
  run.allocation_cpu = 0.625;
  run.allocation_memory = 0.75;
  run.instances_launched = 200;
  run.migrations_per_task = 1.25;
  run.notes.rounds_by_choice = {{"full", 1}, {"partial", 7}};
  run.rounds = 1000;
  run.decision_ms_mean = 0.125;
  run.decision_ms_p99 = 2;
  run.wall_s = 3.5;
  run.events = 12345;
  run.event_log_sha256 = "abc";
  run.cost_by_purpose = {{"tasks", usd * 0.75}, {"boot", usd * 0.25}};
  run.not_completed = {{"17", "never: fits no type"}};
  return run;
}

}  // namespace muster::test
