#pragma once

#include <string>

#include "tools/train/evaluation.hpp"

namespace muster::train {

/// Inputs of a report.
struct Subject {
  const std::string& description;  ///< of the workload
  const History& history;
  const ClassifierParams& params;
  const Outcome& outcome;
};

/// For people: the history, the parameters that won, and the quality of the answers.
std::string text_report(const Subject& subject);
/// Likewise, as JSON.
std::string json_report(const Subject& subject);

}  // namespace muster::train
