#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/event.hpp"
#include "replay/report/explain.hpp"

namespace muster::report {

/// The facts of a line of an explanation, for JSON: a program need not take sentences apart.
using Details = std::vector<std::pair<std::string, ExplanationValue>>;

/// Of each of these, what its text says.
Details details_of(const Refusal& refusal);
Details details_of(CloudReason reason);
Details details_of(const Refusal& refusal, CloudReason reason);
Details details_of(const Cause& cause);
Details details_of(const ServiceScaled& event);

}  // namespace muster::report
