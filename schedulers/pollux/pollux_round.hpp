#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "schedulers/pollux/cluster_input.hpp"
#include "schedulers/pollux/cluster_sizer.hpp"
#include "schedulers/pollux/pollux_memory.hpp"
#include "schedulers/pollux/round_problem.hpp"

namespace muster::pollux {

/// A round's decision, and the memory of how it was made.
struct RoundResult {
  Plan plan;
  std::vector<NamedLayout> population;  ///< of the genetic search
};

/// One decision: jobs that are not elastic have places of their own, and the elastic ones share the
/// cluster as the search has it.
class PolluxRound {
 public:
  /// The mask knows the view's state.
  PolluxRound(const ClusterView& view, const PlacementMask& mask, const PolluxMemory& memory,
              const PolluxParams& params)
      : view_(view), memory_(memory), params_(params), input_(view, mask) {}

  /// Some elastic job may be given another place, and the genetic search decides which.
  bool breeds() const;
  RoundResult run(std::uint64_t seed, Budget& budget);
  /// The problem that run() searches; called once a round. It speaks of the round, which has to
  /// stay.
  RoundProblem pose(std::uint64_t seed, Budget& budget);

 private:
  std::uint32_t wanted_nodes(std::uint64_t seed, Budget& budget);
  void size_cluster(std::uint32_t wanted);
  std::vector<const RoundNode*> nodes_for_search() const;
  Layout search(const RoundProblem& problem, std::uint64_t seed, Budget& budget);
  std::vector<Layout> known_layouts(const RoundProblem& problem) const;
  void remember(const RoundProblem& problem, const std::vector<Layout>& layouts);
  void write(const RoundProblem& problem, const Layout& layout);
  void place(const JobRow& job, const Row& row, const RoundProblem& problem);
  void give_back(const RoundProblem& problem, const Layout& layout);
  void note(const RoundProblem& problem, const Layout& layout, std::uint64_t seed);

  const ClusterView& view_;
  const PolluxMemory& memory_;
  const PolluxParams& params_;
  ClusterInput input_;
  RoundResult result_;
  std::vector<char> surplus_;        ///< by node: the cluster is to do without it
  std::optional<ClusterSize> size_;  ///< where it is chosen
  std::uint32_t target_ = 0;         ///< workers that the cluster is to have room for
};

}  // namespace muster::pollux
