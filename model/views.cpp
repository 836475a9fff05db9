// Names and conversions of what views show. A site, a master and the API use them alike, so that a
// state has one name wherever it is seen. The names are part of the API.

#include "model/views.hpp"

namespace muster {

JobsQuestion JobsQuestion::parts_of(std::vector<JobId> jobs) {
  JobsQuestion question;
  // The answer holds no more jobs than are asked for, and never more than kMost.
  question.most = static_cast<std::uint32_t>(std::min<std::size_t>(jobs.size(), kMost));
  question.only = std::move(jobs);
  return question;
}

void JobsQuestion::begin_behind(const JobCursor& cursor) {
  // Jobs that are over come after the active ones: behind one of them no active job follows.
  (cursor.over ? over_below : active_below) = cursor.behind;
  if (cursor.over) active = false;
}

ShownState shown(JobStanding standing) {
  return counterpart<ShownState>(standing);
}

ShownState shown(JobOutcome outcome) {
  return counterpart<ShownState>(outcome);
}

ShownPhase shown(TaskPhase phase) {
  return counterpart<ShownPhase>(phase);
}

}  // namespace muster
