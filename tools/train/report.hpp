#pragma once

#include <string>

#include "tools/train/evaluation.hpp"

namespace muster::train {

/// What a report is about.
struct Subject {
  const std::string& description;  ///< of the workload
  const History& history;
  const ClassifierParams& params;
  const Outcome& outcome;
};

/// For people: what was learnt from, which parameters won, and how good the answers are.
std::string text_report(const Subject& subject);
/// The same as JSON.
std::string json_report(const Subject& subject);

}  // namespace muster::train
