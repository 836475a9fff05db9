#pragma once

#include "model/job.hpp"
#include "model/views.hpp"

namespace muster {

/// What the job says itself, for those who are shown it; how it stands is left at its defaults.
JobView view_of(const Job& job);

}  // namespace muster
