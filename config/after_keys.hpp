#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/job_request.hpp"
#include "config/request_keys.hpp"
#include "model/job.hpp"

// The key of a request that says after which jobs the job begins.

namespace muster::config {

/// Jobs that one may wait for, at most.
inline constexpr std::size_t kMostAfter = 1'000;

/// The key, in a list as those of others.
std::vector<RequestKey> after_keys();

/// Reports keys that do not go together with it.
void check_after(const JobRequest& request, const Report& report);

/// The jobs that the texts stand for, in their order; the texts have to be right, and name no job
/// by its name (settle_after()).
std::vector<AfterJob> after_of(const std::vector<std::string>& texts);
/// Texts that stand for the jobs.
std::vector<std::string> after_texts(const std::vector<AfterJob>& jobs);

/// Adds texts to others, each job and condition once, in the order of requests.
void add_after_texts(std::vector<std::string>& to, const std::vector<std::string>& more);

/// Puts places in the submission, as "#3", for the names of its jobs. `report` is called with the
/// position of a request that names a job which is not there, or is there twice, that waits for
/// itself, or is in a circle of jobs that wait for each other.
void settle_after(std::vector<JobRequest>& requests,
                  const std::function<void(std::size_t request, std::string fault)>& report);

}  // namespace muster::config
