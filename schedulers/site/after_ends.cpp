#include "schedulers/site/after_ends.hpp"

#include <fmt/format.h>

namespace muster {

std::optional<std::string> why_not(const AfterJob& wanted, const JobEnd& end) {
  if (wanted.end == AfterEnd::any || wanted.end == AfterEnd::start) return std::nullopt;
  const std::string job = fmt::format("job {}", end.job.value);
  // A master that has dropped it from its history knows no more than that it is over.
  if (!end.known) return job + " is over, and how it ended is no longer known";
  const bool completed =
      end.outcome == JobOutcome::completed || end.outcome == JobOutcome::replaced;
  const bool failed = end.outcome == JobOutcome::failed || end.outcome == JobOutcome::refused ||
                      end.outcome == JobOutcome::expired;
  if (wanted.end == AfterEnd::ok ? completed : failed) return std::nullopt;
  return fmt::format("{} ended as {}, and this job was to begin if it {}", job,
                     name_of(end.outcome), wanted.end == AfterEnd::ok ? "completed" : "failed");
}

std::string shown_after(const AfterJob& after) {
  switch (after.end) {
    case AfterEnd::ok:
      break;
    case AfterEnd::any:
      return fmt::format("job {} to be over", after.job.value);
    case AfterEnd::fail:
      return fmt::format("job {} to fail", after.job.value);
    case AfterEnd::start:
      return fmt::format("job {} to start", after.job.value);
  }
  return fmt::format("job {} to complete", after.job.value);
}

}  // namespace muster
