#pragma once

#include <cstddef>

#include "model/job.hpp"

namespace muster {

/// At least what the job takes in a message, and exactly that where it is no small one. Of small
/// jobs, of which many come together, it counts members instead of encoding them, which costs a
/// tenth.
std::size_t job_bytes(const Job& job);

}  // namespace muster
