#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/event.hpp"
#include "model/name_pattern.hpp"
#include "model/shown_states.hpp"
#include "model/view_fields.hpp"

namespace muster {

/// Which jobs of a list somebody wants to see. A job has to be as each member says.
struct JobFilter {
  std::string user{};                       ///< empty: anybody's
  std::string name{};                       ///< a NamePattern; empty: any name
  std::optional<Instant> since{};           ///< submitted then or later
  std::optional<Instant> until{};           ///< submitted before
  bool failed = false;                      ///< it has failed, or a task of it has for good
  std::optional<JobOutcome> outcome{};      ///< how it ended; nothing: also if it has not
  std::optional<std::int32_t> exit_code{};  ///< of a job that is over
  std::optional<ShownState> state{};        ///< of a job that is not over; nothing: any

  friend bool operator==(const JobFilter&, const JobFilter&) = default;
};

void fields(auto& a, Like<JobFilter> auto& v) {
  a("user", v.user);
  a("name", v.name);
  a("since", v.since);
  a("until", v.until);
  a("failed", v.failed);
  a("outcome", v.outcome);
  a("exit_code", v.exit_code);
  a("state", v.state);
}

/// A job, or a part of one, as far as a filter asks for it.
struct FilteredJob {
  std::string_view user;
  std::string_view name;
  Instant submitted;
  bool failed = false;  ///< a task of it, for good
  std::optional<JobOutcome> outcome{};
  std::optional<std::int32_t> exit_code{};
  bool is_part = false;  ///< of a job that is not over: a task of another part may have failed
  std::optional<ShownState> state{};  ///< of one that is not over
};

/// A filter made ready for many jobs. Of a job in parts it lets a part pass where the whole job
/// might; the whole job is asked about once more when it is put together.
class JobSieve {
 public:
  explicit JobSieve(JobFilter filter);

  /// O(bytes of the name).
  bool takes(const FilteredJob& job) const;
  const JobFilter& filter() const { return filter_; }

 private:
  JobFilter filter_;
  NamePattern name_;
};

}  // namespace muster
