#pragma once

#include <string>

#include "model/views.hpp"

namespace muster {

/// A round's changes and their reasons, as one sentence that names jobs and instances: "Rents
/// instance 5 (c7i.large, spot, $0.0357 an hour); puts task 0 of job 4 (count) on instance 5
/// (c7i.large, spot): an instance of its own costs least".
std::string sentence_of(const DecisionView& decision);

/// The policy's choice with its figures, for those who know the policy: "Reconfigures all
/// instances: launches 1 instance, moves 2 tasks; reconfiguring all would save $0.1200 an hour". A
/// choice or figure that is not known here is named as the policy names it.
std::string details_of(const DecisionView& decision);

}  // namespace muster
