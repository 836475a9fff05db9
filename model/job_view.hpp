#pragma once

#include "model/job.hpp"
#include "model/views.hpp"

namespace muster {

/// View of the job's own specification; its state is left at the defaults.
JobView view_of(const Job& job);

}  // namespace muster
