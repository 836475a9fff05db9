#include "storage/stores/history.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "storage/stores/history_page.hpp"

// Members of a History that rest on its other members: for those in memory. StoreHistory has faster
// forms of most of these.

namespace muster {

HistoryEntry entry_of(const JobHistory& history) {
  const Job& job = history.job;
  HistoryEntry entry{job.id, job.user, job.name, {}};
  entry.listed_at = list_place(job).at;
  entry.submitted = job.submitted.value_or(history.accepted_at);
  entry.over_at = history.over_at;
  entry.outcome = history.outcome;
  if (history.outcome == JobOutcome::completed) entry.exit_code = 0;
  std::optional<std::uint32_t> first;
  for (std::size_t i = 0; i < history.tasks.size(); ++i) {
    const TaskHistory& task = history.tasks[i];
    entry.cost += task.cost;
    if (!task.failed) continue;
    entry.failed = true;
    const std::uint32_t index = i < job.tasks.size() ? job.tasks[i].array_index : 0;
    if (history.outcome == JobOutcome::completed || (first && *first <= index)) continue;
    first = index;
    entry.exit_code = task.end.exit_code != 0 ? std::optional(task.end.exit_code) : std::nullopt;
  }
  return entry;
}

Expected<std::optional<JobEnding>, StoreError> History::ending(JobId id) const {
  const auto job = find(id);
  return job ? std::optional(ending_of(*job)) : std::nullopt;
}

void History::list(const HistoryPage& page, const Use& use) const {
  const JobSieve sieve(page.filter);
  std::vector<JobPlace> jobs;
  newest_entries(size(), [&](const HistoryEntry& entry) {
    if (entry.place() < page.below && sieve.takes(filtered(entry))) jobs.push_back(entry.place());
  });
  // Newest entries are those that ended last; pages go by submission.
  std::sort(jobs.begin(), jobs.end(), std::greater<>());
  if (jobs.size() > page.limit) jobs.resize(page.limit);
  for (const JobPlace& place : jobs) {
    const auto job = find(place.job);
    if (job && !use(*job)) return;
  }
}

std::map<std::string, Money> History::spent_by_user() const {
  std::map<std::string, Money> spent;
  newest_entries(size(), [&](const HistoryEntry& entry) { spent[entry.user] += entry.cost; });
  return spent;
}

void History::newest_entries(std::size_t limit,
                             const std::function<void(const HistoryEntry&)>& use) const {
  newest(limit, [&](const JobHistory& job) {
    use(entry_of(job));
    return true;
  });
}

bool History::read_apart(std::function<void()> read) const {
  const std::function<void()> now = std::move(read);
  // At once and in the caller's thread: a history in memory has no disk to wait for.
  now();
  return true;
}

}  // namespace muster
