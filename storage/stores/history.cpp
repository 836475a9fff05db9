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
  HistoryEntry entry{history.job.id, history.job.user, history.job.name, {}};
  for (const TaskHistory& task : history.tasks) entry.cost += task.cost;
  return entry;
}

void History::by_number(const HistoryPage& page, const Use& use) const {
  std::vector<JobId> jobs;
  newest_entries(size(), [&](const HistoryEntry& entry) {
    if (takes(page, entry) && entry.job < page.below) jobs.push_back(entry.job);
  });
  // Newest entries are those that ended last; pages go by number.
  std::sort(jobs.begin(), jobs.end(), std::greater<>());
  if (jobs.size() > page.limit) jobs.resize(page.limit);
  for (const JobId id : jobs) {
    const auto job = find(id);
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
