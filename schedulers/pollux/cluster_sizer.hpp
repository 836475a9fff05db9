#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "schedulers/pollux/cluster_input.hpp"
#include "schedulers/pollux/pollux_memory.hpp"
#include "schedulers/pollux/round_problem.hpp"

namespace muster::pollux {

/// How many nodes a cluster is to have, and why.
struct ClusterSize {
  std::uint32_t nodes = 0;
  double efficiency = 0;  ///< of the cluster as it is: speedups over one worker each, by its room
  bool searched = false;  ///< sizes were tried, so that the window begins anew
};

/// Sizes a cluster so that its efficiency is near a target, as Pollux's simulator means to: once
/// the mean of the last rounds has left a band around the target, sizes are tried by bisection,
/// each with a search of its own, and the one whose efficiency is nearest to the target is taken.
class ClusterSizer {
 public:
  ClusterSizer(const ClusterView& view, const ClusterInput& input, const PolluxMemory& memory,
               const PolluxParams& params)
      : view_(view), input_(input), memory_(memory), params_(params) {}

  /// There have to be rules for it and elastic jobs.
  ClusterSize choose(std::uint64_t seed, Budget& budget);

 private:
  double efficiency_of(const RoundProblem& problem, const Layout& layout) const;
  double efficiency_now() const;
  bool is_due(double efficiency) const;
  double try_size(std::uint32_t nodes, std::uint64_t seed, Budget& budget);

  const ClusterView& view_;
  const ClusterInput& input_;
  const PolluxMemory& memory_;
  const PolluxParams& params_;
};

}  // namespace muster::pollux
