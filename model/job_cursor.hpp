#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/ids.hpp"

namespace muster {

/// A place in the list of all jobs: first come those that are not over, then those that are, each
/// by number, the highest first.
struct JobCursor {
  bool over = false;  ///< among those that are over
  JobId behind;       ///< the following jobs have lower numbers; no job: the beginning of these

  friend bool operator==(const JobCursor&, const JobCursor&) = default;
};

/// "active:12" or "over:12", as users get it to give it back.
std::string to_text(const JobCursor& cursor);
/// Nothing when the text is no such place.
std::optional<JobCursor> job_cursor_from(std::string_view text);

}  // namespace muster
