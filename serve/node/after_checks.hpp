#pragma once

#include <functional>
#include <vector>

#include "serve/api/backend.hpp"
#include "serve/node/job_looks.hpp"

namespace muster {

/// Takes jobs that may be handed in.
using AfterChecks = std::function<void(std::vector<Job>, const api::Reply&)>;

/// The jobs of other submissions that these wait for have to be there, and be of their user: other
/// users are not told how a job ends. Calls `go_on` if so, and answers why not otherwise. The looks
/// have to outlive that.
void check_after(JobLooks& looks, std::vector<Job> jobs, api::Reply reply, AfterChecks go_on);

}  // namespace muster
