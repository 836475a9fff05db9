#include "storage/history.hpp"

#include <utility>

namespace muster {

HistoryEntry entry_of(const JobHistory& history) {
  HistoryEntry entry{history.job.id, history.job.user, history.job.name, {}};
  for (const TaskHistory& task : history.tasks) entry.cost += task.cost;
  return entry;
}

void History::newest_of(const std::string& user, std::size_t limit, const Use& use) const {
  if (limit == 0) return;
  newest(size(),
         [&](const JobHistory& job) { return job.job.user != user || (use(job) && --limit > 0); });
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
  now();
  return true;
}

}  // namespace muster
