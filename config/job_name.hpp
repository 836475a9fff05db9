#pragma once

#include <string>

namespace muster {
struct JobRequest;
}

namespace muster::config {

/// The name of the job: the request's, or else the program's; of a line for a shell that of the
/// first program in it.
std::string job_name(const JobRequest& request);

}  // namespace muster::config
