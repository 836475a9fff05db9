#pragma once

#include <cstdint>
#include <vector>

#include "model/expected.hpp"
#include "model/job.hpp"
#include "model/views.hpp"

namespace muster {

/// Why a job cannot be submitted again.
enum class ResubmitError : std::uint8_t {
  unknown,  ///< no master or site has any of it
  partial,  ///< some of its tasks are not known (any more)
  nothing   ///< none of its tasks has failed
};

/// The job that its masters' answers are of, without ids and token; `failed_only`: only those of
/// its tasks that have failed or, when it is over, did not finish. A gang is never cut up: it is
/// submitted whole.
Expected<Job, ResubmitError> submitted_again(const std::vector<RequestView>& parts,
                                             bool failed_only);

}  // namespace muster
