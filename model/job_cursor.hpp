#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "model/job.hpp"
#include "model/time.hpp"
#include "model/view_fields.hpp"

namespace muster {

/// A place in a list of jobs, which begins with those that were submitted last. It goes by the time
/// of submission and, of those of one time, by number: equal for all parts of a job, whoever
/// has it, so that lists of several masters and sites can be merged.
struct JobPlace {
  Instant at = Instant::max();  ///< 0: of a job of before such times were kept
  JobId job;

  /// A place that compares as less comes later in the list; the default one is the beginning.
  friend auto operator<=>(const JobPlace&, const JobPlace&) = default;
};
/// Where the job stands, and all of its parts do.
inline JobPlace list_place(const Job& job) {
  return {job.submitted.value_or(Instant{}), job.id};
}

void fields(auto& a, Like<JobPlace> auto& v) {
  a("at", v.at);
  a("job", v.job);
}

/// A place in the list of all jobs: first come those that are not over, then those that are, each
/// in the order of JobPlace.
struct JobCursor {
  bool over = false;  ///< among those that are over
  JobPlace behind;    ///< the following jobs come later than this

  friend bool operator==(const JobCursor&, const JobCursor&) = default;
};

void fields(auto& a, Like<JobCursor> auto& v) {
  a("over", v.over);
  a("behind", v.behind);
}

/// "active:1700000000000000000:12" or "over:...": state, nanoseconds and number, as users get it to
/// give it back.
std::string to_text(const JobCursor& cursor);
/// Nothing when the text is no such place.
std::optional<JobCursor> job_cursor_from(std::string_view text);
/// Whether the text is a place as earlier versions wrote it, "active:12", whose lists went by
/// number alone.
bool is_earlier_cursor(std::string_view text);

}  // namespace muster
