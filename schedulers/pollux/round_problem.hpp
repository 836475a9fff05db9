#pragma once

#include <vector>

#include "schedulers/pollux/cluster_input.hpp"
#include "schedulers/pollux/pollux_memory.hpp"
#include "schedulers/pollux/search_problem.hpp"

namespace muster::pollux {

/// A search and what its numbers stand for.
struct RoundProblem {
  SearchProblem search;
  std::vector<const JobRow*> jobs;  ///< those who had least so far first
  std::vector<const RoundNode*> nodes;
};

/// The problem of a round's search: the jobs that may be given other places, on those nodes.
class ProblemMaker {
 public:
  ProblemMaker(const ClusterView& view, const ClusterInput& input, const PolluxMemory& memory,
               SpeedSource speeds)
      : view_(view), input_(input), memory_(memory), speeds_(speeds) {}

  RoundProblem make(std::vector<const RoundNode*> nodes) const;

 private:
  SearchJob job(const JobRow& row, const RoundProblem& round, std::uint32_t unit) const;
  std::uint32_t units_of_node(const RoundProblem& round) const;
  void set_speeds(SearchJob& job, const JobRow& row, SpeedQuestion asked) const;
  double kept_by_change(const JobRow& row) const;
  std::uint32_t workers_in_node(const JobRow& job, const RoundNode& node) const;
  double attained_s(const JobRow& job) const;

  const ClusterView& view_;
  const ClusterInput& input_;
  const PolluxMemory& memory_;
  SpeedSource speeds_;
};

}  // namespace muster::pollux
