#pragma once

#include <cstdint>
#include <vector>

#include "model/job.hpp"

namespace muster {

/// The parts of a job, at most `most_parts`, for as many masters: each with the job's id and some
/// of its tasks, dealt out in turn, so that sizes differ by one at most. A gang is one part: its
/// tasks start together. The parts may have no more tasks in flight together than the job may.
std::vector<Job> split_job(Job job, std::uint32_t most_parts);

}  // namespace muster
