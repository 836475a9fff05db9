// Puts the parts of jobs, as masters and sites list them, together to whole jobs and to pages. A
// part may be missing, because its master does not answer, and it may be listed twice, while it
// passes from a site to a master.

#include "serve/node/merge_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace muster::merge {
namespace {

constexpr std::array kCounts{&JobView::waiting,  &JobView::held,           &JobView::capped,
                             &JobView::starting, &JobView::running,        &JobView::finished,
                             &JobView::failed,   &JobView::failed_attempts};

/// State of the job: the first one, in the order of ShownState, that a part is in. Where a part has
/// expired the others were cancelled for that.
ShownState state_of(const Jobs& parts) {
  ShownState state = parts.front().state;
  bool expired = false;
  for (const JobView& part : parts) {
    state = std::min(state, part.state);
    expired |= part.state == ShownState::expired;
  }
  return expired && state == ShownState::cancelled ? ShownState::expired : state;
}

/// The first submission of those that are known.
std::optional<Instant> first_submitted(const Jobs& parts) {
  std::optional<Instant> first;
  for (const JobView& part : parts) {
    if (part.submitted && (!first || *part.submitted < *first)) first = part.submitted;
  }
  return first;
}

/// The last end; nothing when a part is not over.
std::optional<Instant> last_over(const Jobs& parts) {
  std::optional<Instant> last;
  for (const JobView& part : parts) {
    if (!part.over) return std::nullopt;
    if (!last || *last < *part.over) last = part.over;
  }
  return last;
}

std::string masters_of(const Jobs& parts) {
  std::string names;
  for (const JobView& part : parts) {
    if (!part.master.empty()) names += (names.empty() ? "" : ", ") + part.master;
  }
  return names;
}

/// The part with the failed task of the lowest index; null when no task has failed for good.
const JobView* first_failed(const Jobs& parts) {
  const JobView* first = nullptr;
  for (const JobView& part : parts) {
    if (!part.failed_task) continue;
    if (first == nullptr || *part.failed_task < *first->failed_task) first = &part;
  }
  return first;
}

/// The failed tasks' effect on the job: its exit code, and after its end its state and reason. A
/// job of which more have failed than may was cancelled for that.
void put_failures(JobView& job, const JobView* first) {
  job.exit_code.reset();
  if (job.state == ShownState::completed) job.exit_code = 0;
  job.failed_task.reset();
  job.failure.reset();
  if (first == nullptr) return;
  job.exit_code = first->exit_code;
  job.failed_task = first->failed_task;
  const bool too_many = job.max_fails && job.failed > *job.max_fails;
  if (too_many && job.state == ShownState::cancelled) job.state = ShownState::failed;
  if (job.state != ShownState::failed || !first->failure) return;
  std::string reason = *first->failure;
  if (job.failed > 1 || too_many) {
    reason += fmt::format("; {} of {} tasks {} failed", job.failed, job.tasks,
                          job.failed == 1 ? "has" : "have");
  }
  if (too_many) reason += fmt::format(", and only {} may", *job.max_fails);
  job.reason = std::move(reason);
}

/// Why tasks of it wait, by the master whose tasks they are: each counts those of its own part.
std::string waits_of(const Jobs& parts) {
  // More would fill a screen, and masters of one job seldom wait for different reasons.
  constexpr std::size_t kMostReasons = 4;
  std::size_t reasons = 0;
  std::string text;
  for (const JobView& part : parts) {
    if (!part.reason || part.over) continue;
    if (++reasons > kMostReasons) continue;
    text += reasons > 1 ? "; " : "";
    text += part.master.empty() ? *part.reason : part.master + ": " + *part.reason;
  }
  if (reasons > kMostReasons) text += fmt::format("; and {} more", reasons - kMostReasons);
  return text;
}

/// Why it waits or is over, where one who has a part says so.
std::optional<std::string> reason_of(const Jobs& parts) {
  if (!last_over(parts)) {
    std::string waits = waits_of(parts);
    return waits.empty() ? std::nullopt : std::optional(std::move(waits));
  }
  const ShownState state = state_of(parts);
  for (const JobView& part : parts) {
    if (part.reason && part.state == state) return part.reason;
  }
  return std::nullopt;
}

std::uint64_t tasks_in(const Jobs& parts) {
  std::uint64_t sum = 0;
  for (const JobView& part : parts) sum += part.tasks;
  return sum;
}

bool is_over(const JobView& job) {
  return job.over.has_value();
}

/// Whether the job stands behind the place in the list.
bool comes_behind(const ListedJob& job, const JobCursor& place) {
  return job.over == place.over ? job.place < place.behind : job.over;
}

/// Processor time adds up, and the highest peak counts, of the parts of which they are known.
void put_usage(JobView& out, const Jobs& parts) {
  out.cpu_s.reset();
  out.peak_mib.reset();
  for (const JobView& part : parts) {
    if (part.cpu_s) out.cpu_s = out.cpu_s.value_or(0) + *part.cpu_s;
    if (part.peak_mib) out.peak_mib = std::max(out.peak_mib.value_or(0), *part.peak_mib);
  }
}

/// One job of its parts; tasks of a part that is not among them have finished, when everybody who
/// may have it has answered.
JobView merged(const Jobs& parts, bool complete) {
  JobView out = parts.front();
  if (parts.size() > 1) {
    for (const auto count : kCounts) {
      out.*count = 0;
      for (const JobView& part : parts) out.*count += part.*count;
    }
    out.usd = 0;
    for (const JobView& part : parts) out.usd += part.usd;
    put_usage(out, parts);
    out.state = state_of(parts);
    out.submitted = first_submitted(parts);
    out.over = last_over(parts);
    out.reason = reason_of(parts);
    for (const JobView& part : parts) {
      if (!out.submission) out.submission = part.submission;
    }
    out.master = masters_of(parts);
  }
  out.tasks = tasks_in(parts);
  if (out.whole > out.tasks) {
    if (complete) {
      out.finished += out.whole - out.tasks;
    } else if (is_over(out)) {
      // The part that no master has reported may still run.
      out.over.reset();
      out.state = ShownState::unknown;
    }
    out.tasks = out.whole;
  }
  put_failures(out, first_failed(parts));
  return out;
}

/// The tasks that several list, each of them the first of its own by their indices.
class TaskLists {
 public:
  void add(JobDetails& part) {
    behind_ += part.behind;
    // Behind the last one that it lists it has others, which may come before those of the others.
    if (part.behind > 0 && !part.tasks.empty()) {
      known_to_ = std::min(known_to_, part.tasks.back().index);
    }
    std::move(part.tasks.begin(), part.tasks.end(), std::back_inserter(tasks_));
  }
  /// The first tasks, `limit` of them at most (0: any number), and the number of the others.
  void put_page(WholeJob& whole, std::size_t limit) {
    std::stable_sort(tasks_.begin(), tasks_.end(),
                     [](const TaskView& a, const TaskView& b) { return a.index < b.index; });
    // A page ends at the lowest index up to which every list is whole: behind it a task may be
    // missing.
    const auto end = std::find_if(tasks_.begin(), tasks_.end(),
                                  [&](const TaskView& task) { return task.index > known_to_; });
    std::size_t size = static_cast<std::size_t>(end - tasks_.begin());
    if (limit > 0) size = std::min(size, limit);
    behind_ += tasks_.size() - size;
    tasks_.resize(size);
    if (behind_ > 0 && !tasks_.empty()) whole.next = tasks_.back().index;
    whole.behind = behind_;
    whole.tasks = std::move(tasks_);
  }

 private:
  std::vector<TaskView> tasks_;
  std::uint64_t behind_ = 0;
  std::uint32_t known_to_ = std::numeric_limits<std::uint32_t>::max();
};

}  // namespace

JobPlace place_of(const JobView& part) {
  return part.place.job == part.job ? part.place : JobPlace{Instant{}, part.job};
}

ListedPage page(Jobs parts, const std::optional<JobCursor>& after, std::size_t limit) {
  std::map<JobId, Jobs> by_id;
  for (JobView& part : parts) by_id[part.job].push_back(std::move(part));
  std::vector<ListedJob> all;
  for (auto& [id, job] : by_id) {
    const bool over = std::all_of(job.begin(), job.end(), is_over);
    JobPlace place = place_of(job.front());
    for (const JobView& part : job) place = std::max(place, place_of(part));
    ListedJob listed{id, place, over, std::move(job)};
    if (!after || comes_behind(listed, *after)) all.push_back(std::move(listed));
  }
  // Active jobs first, the newest first in each half: the order in which a JobCursor goes on.
  std::sort(all.begin(), all.end(), [](const ListedJob& a, const ListedJob& b) {
    return a.over != b.over ? b.over : a.place > b.place;
  });
  ListedPage page;
  // Everybody is asked for one job more than `limit`, so a longer list says that there are more.
  if (all.size() > limit) {
    all.resize(limit);
    page.next = JobCursor{all.back().over, all.back().place};
  }
  page.jobs = std::move(all);
  return page;
}

std::vector<JobId> in_doubt(const ListedPage& page) {
  std::vector<JobId> jobs;
  for (const ListedJob& job : page.jobs) {
    if (tasks_in(job.parts) < job.parts.front().whole) jobs.push_back(job.job);
  }
  return jobs;
}

void settle(ListedPage& page, Jobs answers) {
  std::map<JobId, Jobs> by_id;
  for (JobView& answer : answers) by_id[answer.job].push_back(std::move(answer));
  std::erase_if(page.jobs, [&](ListedJob& job) {
    const auto found = by_id.find(job.job);
    if (found == by_id.end()) return false;
    Jobs& parts = found->second;
    const bool runs_on = !std::all_of(parts.begin(), parts.end(), is_over);
    // By its listed parts alone the job looked over; another part runs, so it is one of the active
    // jobs.
    if (job.over && runs_on) return true;
    // Somebody may have fallen silent since he told of his part.
    if (tasks_in(parts) >= tasks_in(job.parts)) job.parts = std::move(parts);
    return false;
  });
}

Jobs jobs(const ListedPage& page, bool over_only, bool complete) {
  Jobs list;
  list.reserve(page.jobs.size());
  for (const ListedJob& job : page.jobs) {
    JobView whole = merged(job.parts, complete);
    if (over_only && !is_over(whole)) continue;
    list.push_back(std::move(whole));
  }
  return list;
}

void sift(Jobs& list, const JobFilter& filter) {
  std::erase_if(list, [&](const JobView& job) {
    if (filter.failed && job.failed == 0 && job.state != ShownState::failed) return true;
    if (filter.state && job.state != filter.state) return true;
    if (filter.exit_code && (!is_over(job) || job.exit_code != filter.exit_code)) return true;
    return filter.outcome && (!is_over(job) || job.state != shown(*filter.outcome));
  });
}

void drop_arrived(std::vector<Jobs>& sites, const Jobs& masters) {
  std::set<std::pair<JobId, std::string>> at_master;
  std::map<JobId, std::size_t> holders;
  // Without a job at a site there is nothing to drop, and the index over all jobs is not needed.
  const bool any =
      std::any_of(sites.begin(), sites.end(), [](const Jobs& site) { return !site.empty(); });
  if (!any) return;
  for (const JobView& one : masters) {
    at_master.emplace(one.job, one.master);
    ++holders[one.job];
  }
  for (const Jobs& site : sites) {
    for (const JobView& one : site) ++holders[one.job];
  }
  for (Jobs& site : sites) {
    std::erase_if(site, [&](const JobView& one) {
      // A site lists a job until its master's confirmation has come, so for a while both list it. A
      // job on its way to another site is dropped as soon as anybody else lists it.
      const bool there = !one.to.empty() && at_master.contains({one.job, one.to});
      return there || (one.to_site && holders[one.job] > 1);
    });
  }
}

bool is_whole(const std::vector<JobDetails>& parts) {
  std::uint64_t tasks = 0;
  for (const JobDetails& part : parts) tasks += part.job.tasks;
  return parts.empty() || tasks >= parts.front().job.whole;
}

std::optional<WholeJob> job(std::vector<JobDetails> parts, bool complete, std::size_t limit) {
  Jobs found;
  TaskLists tasks;
  for (JobDetails& part : parts) {
    if (!part.known) continue;
    found.push_back(std::move(part.job));
    tasks.add(part);
  }
  if (found.empty()) return std::nullopt;
  WholeJob whole{merged(found, complete), {}, {}, 0};
  tasks.put_page(whole, limit);
  return whole;
}

}  // namespace muster::merge
