#pragma once

#include <algorithm>
#include <cmath>

#include "model/rng.hpp"
#include "tests/replay/replay_setup.hpp"

namespace muster::replay::test {

/// A workload, a cloud and caps drawn from the seed; some jobs never fit.
inline SmallReplay random_cluster(std::uint64_t seed) {
  Rng rng(seed);
  SmallReplay replay;
  double submit_s = 0;
  const std::uint64_t jobs = 5 + rng.below(25);
  for (std::uint64_t i = 0; i < jobs; ++i) {
    submit_s += std::floor(rng.exponential(400));
    const double gpus = rng.uniform() < 0.3 ? static_cast<double>(rng.below(3)) : 0;
    const double cores = 1 + static_cast<double>(rng.below(rng.uniform() < 0.05 ? 40 : 8));
    const double memory_gib = 1 + static_cast<double>(rng.below(28));
    const std::size_t tasks = rng.uniform() < 0.3 ? 2 + rng.below(3) : 1;
    replay.job(submit_s, std::floor(rng.uniform(0, 9000)), Resources::of(gpus, cores, memory_gib),
               tasks);
  }
  // A gang needs all its instances at once, so the cloud has at least one a task.
  if (rng.uniform() < 0.5) {
    replay.config().cloud.max_instances = static_cast<std::uint32_t>(4 + rng.below(8));
  }
  replay.config().world.interference.model = "uniform";
  replay.config().world.interference.default_pair = rng.uniform(0.5, 1);
  return replay;
}

/// Such a cluster with services among the jobs; some of these never fit either.
inline SmallReplay random_services(std::uint64_t seed) {
  SmallReplay replay = random_cluster(seed);
  Rng rng = Rng::of_round(seed, "services", 0);
  double submit_s = 0;
  const std::uint64_t services = 1 + rng.below(5);
  for (std::uint64_t i = 0; i < services; ++i) {
    submit_s += std::floor(rng.exponential(1000));
    const double cores = 1 + static_cast<double>(rng.below(rng.uniform() < 0.1 ? 40 : 8));
    replay.service(submit_s, std::floor(rng.uniform(1, 20000)),
                   Resources::of(0, cores, 1 + static_cast<double>(rng.below(28))),
                   1 + rng.below(4));
    replay.workload().jobs.back().job.name = "service-" + std::to_string(i);
  }
  auto& jobs = replay.workload().jobs;
  std::ranges::stable_sort(jobs, {}, &WorkloadJob::submit);
  if (rng.uniform() < 0.5) replay.config().cloud.interruptions_per_h = rng.uniform(0, 1);
  return replay;
}

}  // namespace muster::replay::test
