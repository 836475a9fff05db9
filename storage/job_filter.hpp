#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/job.hpp"
#include "model/job_cursor.hpp"

namespace muster {

/// Which jobs of a list somebody asks for: what the text of a query says, the same for masters and
/// sites. The list is that of JobCursor; of each of its two sections at most `most` are wanted.
struct JobFilter {
  static constexpr std::uint32_t kUnlessAsked = 100;
  static constexpr std::uint32_t kMost = 10'000;

  bool active = true;
  bool over = true;
  std::string user{};  ///< empty: anybody's
  std::size_t most = kUnlessAsked;
  JobId active_below{};  ///< of those that are not over only lower numbers; none: all
  JobId over_below{};    ///< the same of those that are
  /// Of these all parts, whatever else is said; nothing: of all jobs.
  std::optional<std::vector<JobId>> only{};

  /// A JSON object with `state` (active, over or all), `user`, `after` (a cursor) and `only` (a
  /// list of numbers), all of which may be left out; a text that is none asks for all. A limit of 0
  /// is none that was asked for.
  JobFilter(const std::string& text, std::uint32_t limit);
  /// The text for a page behind a cursor; for all that there is of some jobs.
  static std::string page(const std::string& state, const std::string& user,
                          const std::optional<JobCursor>& after);
  static std::string parts_of(const std::vector<JobId>& jobs);

  bool takes(const Job& job) const { return user.empty() || job.user == user; }
};

}  // namespace muster
