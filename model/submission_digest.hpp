#pragma once

#include <cstdint>

#include "model/job.hpp"

namespace muster {

/// A number for all that a user says of a job, but for the token: two submissions with different
/// numbers are of different jobs. It is kept in stores, so equal jobs have to keep equal digests: a
/// member that has its default adds nothing, and one that Job gets later, with a default that means
/// "as before", leaves the numbers of the jobs that do not use it alone.
std::uint64_t submission_digest(const Job& job);

/// Whether the two, which have the same number, were submitted as the same job: with the same token
/// and the same digest. Parts may be of the same job whatever tasks they have: a site that has
/// forgotten how it split the job splits it anew.
bool same_submission(const Job& a, const Job& b);

}  // namespace muster
