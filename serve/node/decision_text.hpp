#pragma once

#include <string>

#include "model/views.hpp"

namespace muster {

/// A round's changes and its policy's reasons, as one sentence: "Reconfigures all instances:
/// launches 1 instance, moves 2 tasks; it saves $0.1200 an hour for $0.0300 of migrations". A
/// choice or figure that is not known here is named as the policy names it.
std::string sentence_of(const DecisionView& decision);

}  // namespace muster
