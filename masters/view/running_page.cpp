#include "masters/view/running_page.hpp"

#include <algorithm>
#include <utility>

#include "actors/messages/byte_cut.hpp"

namespace muster::cell {
namespace {

/// Jobs and tasks that are looked at for one page.
constexpr std::size_t kLooks = 10'000;

bool runs(const TaskRow& task) {
  const bool is_there = task.phase == TaskPhase::running || task.phase == TaskPhase::stopping;
  return is_there && task.at != kNoSlot;
}

/// Fills a page job by job, until it is full or enough has been looked at.
class PageWriter {
 public:
  PageWriter(const Master& master, const UsageQuestion& wanted, Instant now)
      : master_(master), wanted_(wanted), now_(now) {}

  /// False: the page ends in the job, or before it.
  bool add(const JobRow& job) {
    const JobPlace place = list_place(job.job);
    std::size_t position = place == wanted_.from.job ? wanted_.from.position : 0;
    if (looks_ == 0) return end({place, position});
    --looks_;
    if (!wanted_.user.empty() && job.job.user != wanted_.user) return true;
    // From its first task on it is known how many there are to find.
    std::size_t left = position == 0 ? job.running + job.stopping : job.tasks.size();
    for (; left > 0 && position < job.tasks.size(); ++position) {
      if (looks_ == 0 || page_.tasks.size() == wanted_.bound()) return end({place, position});
      --looks_;
      const TaskRow& task = master_.state().task(job.tasks[position]);
      if (!runs(task)) continue;
      --left;
      const std::uint32_t index = master_.state().spec(task).array_index;
      if (wanted_.index && *wanted_.index != index) continue;
      TaskUsageView row = row_of(job, task, index);
      if (!cut_.takes(row)) return end({place, position});
      page_.view.tasks.push_back(std::move(row));
      page_.tasks.push_back(task.id);
    }
    return true;
  }
  RunningPage take() { return std::move(page_); }

 private:
  bool end(const UsagePlace& place) {
    page_.view.place = place;
    return false;
  }
  TaskUsageView row_of(const JobRow& job, const TaskRow& task, std::uint32_t index) const {
    const InstanceRow& on = master_.state().instance(task.at);
    TaskUsageView row;
    row.job = job.job.id;
    row.index = index;
    row.attempt = task.attempt;
    row.name = job.job.name;
    row.user = job.job.user;
    row.instance = on.id;
    row.instance_type = master_.catalog()[on.type].name;
    row.asked = task.held.amount;
    row.running_s = to_seconds(std::max(Duration{}, now_ - task.started_at));
    return row;
  }

  const Master& master_;
  const UsageQuestion& wanted_;
  Instant now_;
  std::size_t looks_ = kLooks;
  ByteCut cut_{};
  RunningPage page_;
};

}  // namespace

RunningPage running_page(const Master& master, const UsageQuestion& wanted, Instant now) {
  PageWriter page(master, wanted, now);
  if (wanted.job.valid()) {
    if (const JobRow* job = master.state().find(wanted.job)) page.add(*job);
    return page.take();
  }
  const auto& listed = master.facts().listed;
  for (auto at = listed.lower_bound(wanted.from.job); at != listed.end(); ++at) {
    if (!page.add(*master.state().find(at->job))) break;
  }
  return page.take();
}

}  // namespace muster::cell
