#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/job_request.hpp"
#include "config/request_keys.hpp"
#include "model/job.hpp"

// The keys of a request that say when the job may begin, by when it has to be over, and when it
// recurs.

namespace muster::config {

/// The keys, in a list as those of others.
std::vector<RequestKey> time_keys();

/// Reports keys that do not go together with them.
void check_times(const JobRequest& request, const Report& report);

/// Sets what they say; a time that settle_times() has not made absolute is left out.
void make_times(const JobRequest& request, Job& job);
/// Puts these keys of the job into the request.
void ask_times(const Job& job, JobRequest& request);

/// The clocks of a place.
struct LocalClock {
  std::function<std::chrono::local_seconds(Instant)> shown;  ///< by them at that time
  /// The first time at which they show it; of one that they pass over when they are put forward,
  /// the moment at which they are.
  std::function<Instant(std::chrono::local_seconds)> moment;
};

/// A time of a request: a date, or one of the forms that count from `now`, by the clock. Nothing
/// when it is neither.
std::optional<Instant> parse_time_of_request(std::string_view text, Instant now,
                                             const LocalClock& clock);

/// Makes the times of the request dates with their offset, and names the zone of `every`: the
/// meaning is then equal for all who read it, at any time. The texts have to be right.
void settle_times(JobRequest& request, Instant now, const LocalClock& clock,
                  const std::string& zone);

/// A time of a request that says something else to whoever reads it later, or elsewhere.
struct UnsettledTime {
  std::string_view key{};
  std::string fault{};  ///< the right form; empty: there is no such time
};
UnsettledTime unsettled_time(const JobRequest& request);

}  // namespace muster::config
