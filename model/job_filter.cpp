#include "model/job_filter.hpp"

#include <utility>

namespace muster {

JobSieve::JobSieve(JobFilter filter) : filter_(std::move(filter)), name_(filter_.name) {}

bool JobSieve::takes(const FilteredJob& job) const {
  if (!filter_.user.empty() && job.user != filter_.user) return false;
  if (filter_.since && job.submitted < *filter_.since) return false;
  if (filter_.until && job.submitted >= *filter_.until) return false;
  // A job of which too many tasks failed was cancelled for that, and is shown as failed.
  const bool failed = job.failed || job.outcome == JobOutcome::failed;
  if (filter_.failed && !failed && !job.is_part) return false;
  if (filter_.state && job.state != filter_.state && !job.is_part) return false;
  if (filter_.exit_code && (!job.outcome || job.exit_code != filter_.exit_code)) return false;
  if (filter_.outcome) {
    const bool counts_as_failed = *filter_.outcome == JobOutcome::failed && failed;
    if (!job.outcome || (job.outcome != filter_.outcome && !counts_as_failed)) return false;
  }
  return filter_.name.empty() || name_.matches(job.name);
}

}  // namespace muster
