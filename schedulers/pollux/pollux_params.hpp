#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "model/time.hpp"

namespace muster::pollux {

/// How the cluster's state is looked for in each round.
enum class SearchKind : std::uint8_t {
  local,   ///< prices and local moves
  genetic  ///< as published: NSGA-II over matrices of jobs and nodes
};

/// Where the speeds of jobs at any width come from.
enum class SpeedSource : std::uint8_t {
  learned,  ///< each job's own measurements
  oracle    ///< from what jobs state; of those that state nothing they are learnt
};

/// How long is searched.
struct SearchEffort {
  std::uint32_t moves = 4000;       ///< of the local search
  std::uint32_t population = 100;   ///< of the genetic one
  std::uint32_t generations = 100;  ///< with the first one
};

/// How the size of the cluster is chosen.
struct AutoscaleRules {
  double target = 0.5;        ///< efficiency that the cluster is to have
  std::uint32_t window = 15;  ///< rounds whose mean is held against it
  std::uint32_t min_nodes = 1;
  std::uint32_t max_nodes = 256;
};

/// Parameters of the policies.
struct PolluxParams {
  Duration period{std::chrono::seconds{60}};
  bool eager = false;  ///< a round when a job comes or leaves, too
  double budget_gpus = 64;
  SearchKind search = SearchKind::local;
  SpeedSource speedups = SpeedSource::learned;
  SearchEffort effort;
  std::optional<AutoscaleRules> autoscale{};  ///< none: the budget says how large the cluster is
};

}  // namespace muster::pollux
