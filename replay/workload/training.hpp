#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "learning/goodput_model.hpp"
#include "replay/workload/formats.hpp"

namespace muster::replay {

/// Settings of training jobs, of which a trace has no more than class and time.
struct TrainingSettings {
  std::filesystem::path profiles;      ///< the folder that load_training_profiles() reads
  std::string calibration = "osdi21";  ///< the word of a TrainingCalibration
  std::string agent = "oracle";        ///< the word of an AgentMode
  bool states_speedups = true;         ///< jobs say how fast they go at which width in which epoch
  std::uint32_t max_width = kMostReplicas;
  Duration rescale{};  ///< whenever a job starts on other workers; 0: as the calibration has it
  double rescale_factor = 1;  ///< on that delay
  Duration cold_rescale{};    ///< on workers of another family than before, where it is longer
  /// Families on which workers are faster or slower than measured: "FAMILY@SPEED".
  std::vector<std::string> families;
  /// Squared coefficient of variation of the gaps between submissions, which are drawn anew with
  /// the trace's mean rate; 0: as in the trace.
  double burstiness = 0;
  Duration burst_cycle{std::chrono::hours{2}};  ///< from one burst to the next, on average
};

}  // namespace muster::replay
