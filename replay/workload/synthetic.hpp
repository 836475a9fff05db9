#pragma once

#include <cstdint>
#include <filesystem>

#include "replay/workload/formats.hpp"

namespace muster::replay {

/// How jobs and tasks are made when no trace is read.
struct SyntheticWorkload {
  std::filesystem::path workloads;  ///< CSV of the workloads to draw from
  std::uint32_t jobs = 100;
  std::uint32_t tasks_per_job = 1;
  double mean_gap_s = 1200;     ///< mean of the exponential gaps between arrivals
  double min_duration_h = 0.5;  ///< durations are drawn between the two
  double max_duration_h = 3;
  bool log_uniform = false;  ///< draws them uniformly on a logarithmic scale
};

}  // namespace muster::replay
