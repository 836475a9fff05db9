#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "model/time.hpp"

namespace muster {

/// How sites predict run times (docs/classifier.md).
struct PredictConfig {
  std::string by = "log-ratio";  ///< how experts are compared, or: hint
  bool limits = true;            ///< stated run times are learnt from; not where they are the truth
  std::uint32_t values = 1000;   ///< of each feature of a job that are remembered
  std::uint32_t history = 20;    ///< newest run times that are kept with each of them
};

/// How sites tell short jobs from long ones (docs/classifier.md).
struct ClassifyConfig {
  std::string by;  ///< svm, hint, oracle or none; empty: as the policy's module says
  std::filesystem::path
      model;  ///< model that `muster train` wrote; empty: nothing is known at first
  Duration threshold{std::chrono::minutes{10}};  ///< T_th: a job whose tasks run longer is long
  double eps = 0.5;                   ///< SORS: how far a run may stay below what is promised
  double p_threshold = 0.95;          ///< SORS: how sure that has to be
  std::uint32_t min_samples = 20;     ///< past errors without which SORS says no
  std::uint32_t max_samples = 500;    ///< of them, taken evenly; trainings are quadratic
  std::uint32_t max_history = 5000;   ///< finished jobs that a training looks at
  std::uint32_t retrain_after = 500;  ///< finished jobs from one training to the next
  PredictConfig predict{};
};

}  // namespace muster
