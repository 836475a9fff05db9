#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/job_views.hpp"

// Packing of the ends of a job's tasks for messages: values that are equal for all of them, or rise
// by equal steps, are sent once.

namespace muster {

/// The first value, and from each value to the next, modulo 2^32: one step where all are equal.
std::vector<std::uint32_t> steps_of(const std::vector<TaskEnd>& ends,
                                    std::uint32_t TaskEnd::*member);
/// A character an end; one where all are equal.
std::string kinds_of(const std::vector<TaskEnd>& ends);

/// Ends as steps_of() and kinds_of() pack them.
struct PackedEnds {
  const std::vector<std::uint32_t>& positions;
  const std::vector<std::uint32_t>& indices;
  const std::string& kinds;
};
/// Replaces `ends` by that number of ends; false when the packed values do not give them.
bool put_ends(std::vector<TaskEnd>& ends, std::uint32_t count, const PackedEnds& packed);

}  // namespace muster
