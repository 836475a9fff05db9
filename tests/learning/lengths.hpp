#pragma once

#include "model/job.hpp"

namespace muster::test {

inline constexpr JobLength kShort = JobLength::short_run;
inline constexpr JobLength kLong = JobLength::long_run;

}  // namespace muster::test
