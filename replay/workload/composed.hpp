#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "replay/workload/formats.hpp"

namespace muster::replay {

/// How a workload is put together from two traces.
struct ComposedWorkload {
  std::string format = "tr";      ///< of workload.path: arrivals, durations, tasks
  std::filesystem::path demands;  ///< the trace that demands are drawn from; empty: their own
  std::string demands_format = "google-2011";
  std::uint32_t jobs = 0;  ///< drawn from the first trace, each as likely; 0: its own, in order
  Duration from{};         ///< jobs of the first trace that come earlier are not drawn
  double mean_gap_s = 0;   ///< of exponential gaps between arrivals; 0: as in the first trace
};

}  // namespace muster::replay
