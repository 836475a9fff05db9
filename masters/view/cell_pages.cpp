// A master's jobs and their tasks, page by page.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "config/submission.hpp"
#include "masters/view/attempt_views.hpp"
#include "masters/view/cell_pieces.hpp"
#include "masters/view/cell_view.hpp"

namespace muster {
namespace {

using cell::job_view;
using cell::task_view;

/// Tasks of a job that is not over that are written out at once: a longer list takes several
/// questions, between which the master does something else.
constexpr std::size_t kTasksAtOnce = 250;
/// Tasks that are looked at for the costs since they were booked last, for a page of jobs and for
/// one job: they are a matter of seconds for a large job, whose tasks come and go.
constexpr std::size_t kLooksOfList = 10'000;
constexpr std::size_t kLooksOfJob = 100'000;

/// Writes the first of the tasks, at least one, that go into one message with what is said of the
/// job.
template <class Make>
void put_tasks(JobDetails& details, const std::vector<std::size_t>& positions, Make make) {
  ByteCut cut;
  cut.takes(details.job);
  for (const std::size_t position : positions) {
    TaskView task = make(position);
    if (!cut.takes(task) && !details.tasks.empty()) break;
    details.tasks.push_back(std::move(task));
  }
  details.behind = positions.size() - details.tasks.size();
}

/// Takes one more job into the list, or cuts the list there.
bool take(JobsView& list, ByteCut& cut, JobView job) {
  list.cut = !cut.takes(job);
  if (!list.cut) list.jobs.push_back(std::move(job));
  return !list.cut;
}

std::string end_text(JobOutcome outcome) {
  return fmt::format(
      "{} {}", outcome == JobOutcome::failed || outcome == JobOutcome::expired ? "has" : "was",
      muster::name_of(outcome));
}

/// Why a task of a job that is over is as it is.
std::string why(const TaskHistory& task, const JobHistory& job) {
  const JobOutcome outcome = job.outcome;
  if (task.finished) return "has finished";
  if (task.failed) return "has failed: " + task.reason;
  if (cell::is_given_up(job) && !task.reason.empty()) {
    return fmt::format("{}, for the update was given up: {}",
                       task.attempts > 0 ? "was stopped" : "has not run", task.reason);
  }
  if (task.attempts > 0) return "was stopped, for the job " + end_text(outcome);
  if (!task.reason.empty()) return "is refused, " + task.reason;
  return "has not run, for the job " + end_text(outcome);
}

/// The tasks of a page, by their indices, and how many that are wanted come behind them. Holds
/// no more than a page while it looks at all tasks.
class TaskPage {
 public:
  TaskPage(const JobQuestion& wanted, std::size_t most)
      : filter_(wanted), most_(std::min(wanted.bound(), most)) {}

  /// `phase` is asked for where it matters.
  template <class Phase>
  void offer(std::uint32_t index, std::size_t position, Phase phase) {
    if (filter_.after && index <= *filter_.after) return;
    if (!filter_.phase.empty() && name_of(phase()) != filter_.phase) return;
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
  const JobQuestion& filter_;
  const std::size_t most_;
  std::size_t wanted_ = 0;
  std::vector<std::pair<std::uint32_t, std::size_t>> lowest_;  ///< a heap, the highest on top
};

JobDetails over_job(const JobHistory& over, const JobQuestion& wanted, const Catalog& catalog) {
  TaskPage page(wanted, wanted.bound());
  for (std::size_t i = 0; i < over.tasks.size(); ++i) {
    page.offer(over.job.tasks[i].array_index, i, [&] { return cell::phase_of(over.tasks[i]); });
  }
  JobDetails details{true, job_view(over)};
  if (wanted.tasks_only) {
    details.job.command.clear();
  } else {
    details.job.submission = config::shown_submission(over.job);
  }
  put_tasks(details, page.positions(), [&](std::size_t i) {
    TaskView task = task_view(over.tasks[i], i, over, catalog);
    if (wanted.explained) task.why = why(over.tasks[i], over);
    if (wanted.attempts) {
      cell::put_attempts(task, over.tasks[i], {catalog, over.tasks[i].cost, {}, over.outcome});
    }
    return task;
  });
  details.behind += page.behind();
  return details;
}

/// Jobs that are not over, in the order of lists.
struct ActivePage {
  std::vector<Slot> slots{};
  std::optional<JobPlace> looked{};  ///< more may be wanted, which come later than this
};

/// A job as filters ask for it; valid while the row is.
FilteredJob filtered(const JobRow& row) {
  FilteredJob asked{row.job.user, row.job.name, row.job.submitted.value_or(row.accepted_at)};
  asked.failed = row.failed > 0;
  asked.is_part = row.job.total_tasks > 0;
  asked.state = shown(row.standing());
  return asked;
}

/// The page of a question among the jobs that are not over. Looks at no more of them than a page
/// may have, so that a filter through which few come does not hold up the master; the API goes on
/// behind them.
ActivePage active_page(const MasterFacts& facts, const JobsQuestion& wanted) {
  const JobSieve sieve(wanted.filter);
  ActivePage page;
  std::size_t looks = JobsQuestion::kMost;
  for (auto at = facts.listed.upper_bound(wanted.active_below); at != facts.listed.end(); ++at) {
    if (page.slots.size() == wanted.bound()) break;
    if (looks-- == 0) {
      page.looked = *std::prev(at);
      break;
    }
    const JobRow& row = *facts.state.find(at->job);
    if (sieve.takes(filtered(row))) page.slots.push_back(row.slot);
  }
  return page;
}

/// The page of a question in the history. A member that questions have more stops the compiler
/// here, so that jobs that are over are not shown whatever it says.
HistoryPage page_of(const JobsQuestion& wanted) {
  const auto& [active, over, filter, most, active_below, over_below, only] = wanted;
  static_cast<void>(active);  // which sections are asked for is known before the page is read
  static_cast<void>(over);
  static_cast<void>(most);  // by its bound
  static_cast<void>(active_below);
  static_cast<void>(only);
  return {filter, over_below, wanted.bound()};
}

/// Adds the costs of the job's tasks since they were booked last, where that takes no more looks
/// than are left.
void add_unsettled(JobView& view, const JobRow& row, const CellView& cell, std::size_t& looks) {
  const bool holds = row.running + row.starting + row.stopping > 0;
  if (!holds || row.tasks.size() > looks) return;
  looks -= row.tasks.size();
  Money more;
  for (const Slot slot : row.tasks) {
    more += cell::unsettled(cell.master.state().task(slot), cell.master, cell.now);
  }
  view.usd += more.usd();
}

/// Part of a list that is read from the history, behind the jobs that are not over.
struct OverPart {
  JobsView list;
  std::set<JobId> listed;     ///< a job may get over before the history is read
  std::vector<JobId> wanted;  ///< these alone, if `only`
  bool only = false;
  HistoryPage page;
  std::string master;
  ByteCut cut{};  ///< bytes of the message that `list` has taken

  JobsView read(const History& history) const {
    JobsView whole = list;
    ByteCut so_far = cut;
    const auto use = [&](const JobHistory& job) {
      if (listed.contains(job.job.id)) return true;
      JobView view = job_view(job);
      view.master = master;
      return take(whole, so_far, std::move(view));
    };
    if (!only) history.list(page, use);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto job = history.find(wanted[i]);
      if (!job || use(*job)) continue;
      whole.rest.assign(wanted.begin() + static_cast<std::ptrdiff_t>(i), wanted.end());
      break;
    }
    return whole;
  }
};

}  // namespace

CellAnswer<JobsView> CellView::jobs(const JobsQuestion& wanted) const {
  const ClusterState& state = master.state();
  OverPart over{{}, {}, {}, wanted.only.has_value(), {}, name, ByteCut()};
  ActivePage active;
  if (wanted.only) {
    const std::size_t asked = std::min<std::size_t>(wanted.only->size(), JobsQuestion::kMost);
    for (std::size_t i = 0; i < asked; ++i) {
      const JobId id = (*wanted.only)[i];
      if (const JobRow* row = state.find(id)) {
        active.slots.push_back(row->slot);
      } else if (history != nullptr && history->contains(id)) {
        over.wanted.push_back(id);
      }
    }
  } else if (wanted.active) {
    active = active_page(master.facts(), wanted);
  }
  const std::vector<Slot>& slots = active.slots;
  std::size_t looks = kLooksOfList;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const JobRow& row = state.job(slots[i]);
    JobView view = job_view(row, master);
    add_unsettled(view, row, *this, looks);
    view.master = name;
    if (!take(over.list, over.cut, std::move(view))) {
      if (!wanted.only) return {std::move(over.list), {}};
      for (; i < slots.size(); ++i) over.list.rest.push_back(state.job(slots[i]).job.id);
      over.list.rest.insert(over.list.rest.end(), over.wanted.begin(), over.wanted.end());
      return {std::move(over.list), {}};
    }
    over.listed.insert(row.job.id);
  }
  if (active.looked) {
    over.list.cut = true;
    over.list.looked = JobCursor{false, *active.looked};
    return {std::move(over.list), {}};
  }
  // A page that is full of jobs that are not over shows no others.
  const bool more = wanted.only
                        ? !over.wanted.empty()
                        : wanted.over && history != nullptr && slots.size() < wanted.bound();
  if (!more) return {std::move(over.list), {}};
  over.page = page_of(wanted);
  return {{}, [over = std::move(over), kept = history] { return over.read(*kept); }};
}

CellAnswer<JobDetails> CellView::job(const JobQuestion& wanted) const {
  const JobRow* row = master.state().find(wanted.job);
  if (row == nullptr) {
    if (history == nullptr || !history->contains(wanted.job)) return {};
    return {{}, [wanted, name = name, over = history, &catalog = master.catalog()] {
              const auto found = over->find(wanted.job);
              if (!found) return JobDetails{};
              JobDetails details = over_job(*found, wanted, catalog);
              details.job.master = name;
              return details;
            }};
  }
  JobDetails details{true, job_view(*row, master)};
  std::size_t looks = kLooksOfJob;
  add_unsettled(details.job, *row, *this, looks);
  details.job.master = name;
  if (!wanted.tasks_only) {
    details.job.reason = cell::reason_of(*row, master);
    details.job.submission = config::shown_submission(row->job);
  }
  const ClusterState& state = master.state();
  TaskPage page(wanted, kTasksAtOnce);
  for (std::size_t i = 0; i < row->tasks.size(); ++i) {
    const TaskRow& task = state.task(row->tasks[i]);
    page.offer(state.spec(task).array_index, i, [&] { return cell::phase_of(task); });
  }
  if (wanted.tasks_only) details.job.command.clear();
  const TaskHistory unknown;
  put_tasks(details, page.positions(), [&](std::size_t i) {
    const TaskRow& row_of = state.task(row->tasks[i]);
    TaskView task = task_view(row_of, master, now);
    if (wanted.explained)
      task.why = cell::why(row_of, master) + cell::next_round_text(row_of, master, now);
    if (wanted.attempts) {
      const TaskHistory* known = master.facts().task_history(row_of.id);
      cell::put_attempts(task, known == nullptr ? unknown : *known,
                         {master.catalog(),
                          master.ledger().task(row_of.id) + cell::unsettled(row_of, master, now),
                          now,
                          {}});
    }
    return task;
  });
  details.behind += page.behind();
  return {std::move(details), {}};
}

}  // namespace muster
