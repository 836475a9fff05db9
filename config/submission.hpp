#pragma once

#include <cstdint>
#include <string>

#include "model/views.hpp"

namespace muster::config {

/// The submission of a job for its viewers: a job of one task, which has the names of its variables
/// without their values, and neither the token nor the command, with which a job is shown anyhow.
/// O(tasks) for the text of their indices.
SubmissionView shown_submission(const Job& job);

/// Likewise, as a JSON object: keys of a request, of which those that matter to every job are
/// always there; `env_names` in place of `env`. `tasks`: of the whole job.
std::string submission_json(const SubmissionView& submission, std::uint64_t tasks);

}  // namespace muster::config
