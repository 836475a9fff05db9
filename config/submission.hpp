#pragma once

#include <cstdint>

#include "model/job_documents.hpp"

namespace muster::config {

/// The submission of a job for its viewers: a job of one task, which has the names of its variables
/// without their values, and neither the token nor the command, with which a job is shown anyhow.
/// O(tasks) for the text of their indices.
SubmissionView shown_submission(const Job& job);

/// The keys of the request that it stands for. `tasks`: of the whole job.
SubmittedAs submitted_as(const SubmissionView& submission, std::uint64_t tasks);

}  // namespace muster::config
