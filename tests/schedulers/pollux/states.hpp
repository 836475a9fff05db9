#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/rng.hpp"
#include "schedulers/pollux/search_problem.hpp"

// Made-up states of a cluster, for both searches.

namespace muster::testing {

/// How large a made-up state is.
struct StateSize {
  std::size_t nodes = 4;
  std::size_t jobs = 4;
};

/// A job whose speedup is r / (1 + what synchronising r workers costs, on several nodes more).
inline pollux::SearchJob job_of_state(StateSize size, std::uint32_t most, Rng& rng) {
  pollux::SearchJob job;
  job.units.assign(size.nodes, 1);
  job.current.assign(size.nodes, 0);
  job.most = most;
  job.kept_by_change = rng.uniform(0.2, 1);
  const double sync = rng.uniform(0.01, 0.4);
  const double apart = rng.uniform(0, 0.3);
  const double crowd = rng.uniform(0, 0.01);
  const auto speed = [&](std::uint32_t r, bool several) {
    return r / (1 + (r > 1 ? sync : 0) + (several ? apart : 0) + crowd * r * r);
  };
  const auto fair = std::max<std::size_t>((4 * size.nodes + size.jobs - 1) / size.jobs, 1);
  const double base = speed(static_cast<std::uint32_t>(fair), false);
  for (std::uint32_t r = 1; r <= std::min(most, 4U); ++r) {
    job.one_node.push_back(speed(r, false) / base);
  }
  for (std::uint32_t r = 2; r <= most; ++r) job.several.push_back(speed(r, true) / base);
  return job;
}

/// Nodes of four workers; most of the jobs already have some of them.
inline pollux::SearchProblem made_up_state(StateSize size, Rng& rng) {
  pollux::SearchProblem problem;
  problem.room.assign(size.nodes, 4);
  std::vector<std::uint32_t> free(size.nodes, 4);
  std::vector<bool> shared(size.nodes, false);
  for (std::size_t j = 0; j < size.jobs; ++j) {
    const bool single = rng.uniform() < 0.3;
    const auto all = static_cast<std::uint32_t>(std::min<std::size_t>(4 * size.nodes, 64));
    const std::uint32_t most = single ? 1 : std::min(all, 1U << rng.below(7));
    pollux::SearchJob job = job_of_state(size, most, rng);
    std::uint32_t wanted =
        rng.uniform() < 0.2 ? 0 : 1 + static_cast<std::uint32_t>(rng.below(most));
    const bool several = wanted > 4;
    pollux::Row row(size.nodes, 0);
    for (std::size_t n = 0; n < size.nodes && wanted > 0; ++n) {
      if (several ? shared[n] : free[n] < wanted) continue;
      row[n] = static_cast<std::uint16_t>(std::min(free[n], wanted));
      wanted -= row[n];
    }
    const pollux::RowSize got = pollux::size_of(row);
    if (wanted == 0 && (!several || got.nodes > 1)) {
      job.current = row;
      for (std::size_t n = 0; n < size.nodes; ++n) {
        free[n] -= row[n];
        if (row[n] > 0 && got.nodes > 1) shared[n] = true;
      }
    }
    problem.jobs.push_back(std::move(job));
  }
  return problem;
}

}  // namespace muster::testing
