// A master's jobs and their tasks, page by page.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "masters/cell_json.hpp"
#include "masters/cell_view.hpp"
#include "storage/job_filter.hpp"
#include "storage/task_filter.hpp"

namespace muster {
namespace {

using cell::job_json;
using cell::task_json;
using nlohmann::json;

/// So many tasks of a job that is not over are written out at once: who wants more asks on, and
/// the master does something else in between.
constexpr std::size_t kTasksAtOnce = 250;

std::string text_of(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string end_text(JobOutcome outcome) {
  return fmt::format("{} {}", outcome == JobOutcome::failed ? "has" : "was",
                     muster::name_of(outcome));
}

/// Why a task of a job that is over is as it is.
std::string why(const TaskHistory& task, JobOutcome outcome) {
  if (task.finished) return "has finished";
  if (task.failed) return "has failed: " + task.reason;
  if (task.attempts > 0) return "was stopped, for the job " + end_text(outcome);
  if (!task.reason.empty()) return "is refused, " + task.reason;
  return "has not run, for the job " + end_text(outcome);
}

/// The tasks of a page, by their indices, and how many that are wanted come behind them. Holds
/// no more than a page while it looks at all tasks.
class TaskPage {
 public:
  TaskPage(const TaskFilter& filter, std::size_t most)
      : filter_(filter), most_(std::max<std::size_t>(1, std::min(filter.most, most))) {}

  /// `phase` is asked for where it matters.
  template <class Phase>
  void offer(std::uint32_t index, std::size_t position, Phase phase) {
    if (filter_.after && index <= *filter_.after) return;
    if (!filter_.phase.empty() && phase() != filter_.phase) return;
    ++wanted_;
    if (lowest_.size() == most_ && index > lowest_.front().first) return;
    lowest_.emplace_back(index, position);
    std::push_heap(lowest_.begin(), lowest_.end());
    if (lowest_.size() <= most_) return;
    std::pop_heap(lowest_.begin(), lowest_.end());
    lowest_.pop_back();
  }
  /// Their positions, in the order of their indices. Nothing is offered afterwards.
  std::vector<std::size_t> positions() {
    std::sort_heap(lowest_.begin(), lowest_.end());
    std::vector<std::size_t> all;
    for (const auto& [index, position] : lowest_) all.push_back(position);
    return all;
  }
  std::size_t behind() const { return wanted_ - lowest_.size(); }

 private:
  const TaskFilter& filter_;
  const std::size_t most_;
  std::size_t wanted_ = 0;
  std::vector<std::pair<std::uint32_t, std::size_t>> lowest_;  ///< a heap, the highest on top
};

/// A job's document with a page of its tasks.
json with_tasks(json job, json tasks, std::size_t behind, bool explained) {
  if (explained) {
    return {{"job", std::move(job)}, {"tasks", std::move(tasks)}, {"tasks_behind", behind}};
  }
  job["tasks"] = std::move(tasks);
  job["tasks_behind"] = behind;
  return job;
}

json over_job(const JobHistory& over, bool explained, const TaskFilter& filter,
              const Catalog& catalog) {
  TaskPage page(filter, filter.most);
  for (std::size_t i = 0; i < over.tasks.size(); ++i) {
    page.offer(over.job.tasks[i].array_index, i, [&] { return cell::phase_of(over.tasks[i]); });
  }
  json tasks = json::array();
  for (const std::size_t i : page.positions()) {
    tasks.push_back(task_json(over.tasks[i], i, over, catalog));
    if (explained) tasks.back()["why"] = why(over.tasks[i], over.outcome);
  }
  return with_tasks(job_json(over), std::move(tasks), page.behind(), explained);
}

/// The jobs that are not over and are wanted, the highest number first.
std::vector<Slot> active_page(const ClusterState& state, const JobFilter& filter) {
  std::vector<std::pair<JobId, Slot>> page;  // a heap, the lowest number on top
  const auto above = std::greater<std::pair<JobId, Slot>>();
  // Those that came last mostly have the highest numbers, so that few are put in and out again.
  for (Slot slot = state.last_job(); slot != kNoSlot; slot = state.job_before(slot)) {
    const Job& job = state.job(slot).job;
    if (!(job.id < filter.active_below)) continue;
    if (page.size() == filter.most && job.id < page.front().first) continue;
    if (!filter.takes(job)) continue;
    page.emplace_back(job.id, slot);
    std::push_heap(page.begin(), page.end(), above);
    if (page.size() <= filter.most) continue;
    std::pop_heap(page.begin(), page.end(), above);
    page.pop_back();
  }
  std::sort_heap(page.begin(), page.end(), above);
  std::vector<Slot> slots;
  for (const auto& [id, slot] : page) slots.push_back(slot);
  return slots;
}

/// What is read of a history for a list that begins with jobs that are not over.
struct OverPart {
  json list;
  std::set<JobId> listed;     ///< a job may get over before the history is read
  std::vector<JobId> wanted;  ///< these alone, if `only`
  bool only = false;
  HistoryPage page;
  std::string master;

  std::string read(const History& history) const {
    json whole = list;
    const auto use = [&](const JobHistory& job) {
      if (listed.contains(job.job.id)) return true;
      whole.push_back(job_json(job));
      whole.back()["master"] = master;
      return true;
    };
    if (!only) history.by_number(page, use);
    for (const JobId id : wanted) {
      if (const auto job = history.find(id)) use(*job);
    }
    return text_of({{"jobs", std::move(whole)}});
  }
};

}  // namespace

CellAnswer CellView::jobs(const JobFilter& filter) const {
  const ClusterState& state = master.state();
  OverPart over{json::array(), {}, {}, filter.only.has_value(), {}, name};
  std::vector<Slot> active;
  if (filter.only) {
    for (const JobId id : *filter.only) {
      if (const JobRow* row = state.find(id)) {
        active.push_back(row->slot);
      } else if (history != nullptr && history->contains(id)) {
        over.wanted.push_back(id);
      }
    }
  } else if (filter.active) {
    active = active_page(state, filter);
  }
  for (const Slot slot : active) {
    over.list.push_back(job_json(state.job(slot), master));
    over.list.back()["master"] = name;
    over.listed.insert(state.job(slot).job.id);
  }
  // Who has as many that are not over shows no others.
  const bool more = filter.only ? !over.wanted.empty()
                                : filter.over && history != nullptr && active.size() < filter.most;
  if (!more) return {text_of({{"jobs", std::move(over.list)}}), {}};
  over.page = {filter.user, filter.over_below, filter.most};
  return {{}, [over = std::move(over), kept = history] { return over.read(*kept); }};
}

CellAnswer CellView::job(JobId id, bool explained, const TaskFilter& filter) const {
  const JobRow* row = master.state().find(id);
  if (row == nullptr) {
    if (history == nullptr || !history->contains(id)) return {R"({"missing":true})", {}};
    return {{}, [id, explained, filter, name = name, over = history, &catalog = master.catalog()] {
              const auto found = over->find(id);
              if (!found) return std::string(R"({"missing":true})");
              json out = over_job(*found, explained, filter, catalog);
              (explained ? out["job"] : out)["master"] = name;
              return text_of(out);
            }};
  }
  json out = job_json(*row, master);
  out["master"] = name;
  if (!filter.tasks_only) out["reason"] = cell::reason_of(*row, master);
  const ClusterState& state = master.state();
  TaskPage page(filter, kTasksAtOnce);
  for (std::size_t i = 0; i < row->tasks.size(); ++i) {
    const TaskRow& task = state.task(row->tasks[i]);
    page.offer(state.spec(task).array_index, i, [&] { return cell::phase_of(task); });
  }
  json tasks = json::array();
  for (const std::size_t i : page.positions()) {
    const TaskRow& task = state.task(row->tasks[i]);
    tasks.push_back(task_json(task, master, now));
    if (explained) tasks.back()["why"] = cell::why(task, master);
  }
  return {text_of(with_tasks(std::move(out), std::move(tasks), page.behind(), explained)), {}};
}

}  // namespace muster
