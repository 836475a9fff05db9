#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/job_cursor.hpp"
#include "model/views.hpp"

// A job may have parts with several masters; to the API's users it is one.

namespace muster::merge {

/// Jobs, and parts of them.
using Jobs = std::vector<JobView>;

/// Where the job of the part stands in lists. A master or site of an earlier version does not say
/// it.
JobPlace place_of(const JobView& part);

/// A job of a list, as the parts of it that are known.
struct ListedJob {
  JobId job;
  JobPlace place;
  bool over = false;  ///< no part of these runs any more
  Jobs parts;
};

/// A page of a list of jobs, in the order of JobCursor.
struct ListedPage {
  std::vector<ListedJob> jobs;
  std::optional<JobCursor> next;  ///< nothing: there are no more
};

/// The first jobs behind the cursor of all that were listed, at most `limit`. For it to be right
/// each who listed some has one more of each of the two sections behind the cursor, or all of it.
ListedPage page(Jobs parts, const std::optional<JobCursor>& after, std::size_t limit);

/// The jobs of the page that have parts which are not on it: these may run on, be on another page
/// or not be known any more.
std::vector<JobId> in_doubt(const ListedPage& page);
/// Takes what everybody says when asked about the jobs in doubt. Those that looked over and have a
/// part that runs go: they are listed with the others that do.
void settle(ListedPage& page, Jobs answers);

/// The page's jobs as users see them. `over_only`: without those that may run on. `complete`:
/// everybody has answered, so that a part that is missing has finished; else nothing is known of
/// it.
Jobs jobs(const ListedPage& page, bool over_only, bool complete = true);

/// Leaves out jobs that the filter does not take; it has let parts pass where the job might.
void sift(Jobs& list, const JobFilter& filter);

/// Leaves out of what each site says of jobs on their way what another has by now, who was asked
/// later: a master that lists it, or, of a job left to another site, anybody.
void drop_arrived(std::vector<Jobs>& sites, const Jobs& masters);

/// One job as users see it, with a page of its tasks.
struct WholeJob {
  JobView job;
  std::vector<TaskView> tasks;
  std::optional<std::uint32_t> next;  ///< behind which task to ask on; nothing: there are no more
  std::uint64_t behind = 0;
};

/// One job of the masters' answers about it; nothing when no master has it. `complete` as above. It
/// has the first of the tasks that are listed, at most `limit` (0: any number), and fewer when
/// others may come before the rest.
std::optional<WholeJob> job(std::vector<JobDetails> parts, bool complete = true,
                            std::size_t limit = 0);

/// Whether the parts of one job are all of it.
bool is_whole(const std::vector<JobDetails>& parts);

}  // namespace muster::merge
