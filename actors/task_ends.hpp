#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/job_views.hpp"

// How the ends of a job's tasks travel: what is equal for all of them, or rises by equal steps, is
// said once.

namespace muster {

/// The first value, and from each value to the next, modulo 2^32: one step where all are equal.
std::vector<std::uint32_t> steps_of(const std::vector<TaskEnd>& ends,
                                    std::uint32_t TaskEnd::*member);
/// A character an end; one where all are equal.
std::string kinds_of(const std::vector<TaskEnd>& ends);

/// What steps_of() and kinds_of() have made of some ends.
struct PackedEnds {
  const std::vector<std::uint32_t>& positions;
  const std::vector<std::uint32_t>& indices;
  const std::string& kinds;
};
/// Puts so many ends in the place of `ends`; false when these cannot be made of what was packed.
bool put_ends(std::vector<TaskEnd>& ends, std::uint32_t count, const PackedEnds& packed);

}  // namespace muster
