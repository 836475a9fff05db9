#include "masters/actor/counterpart_answers.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "model/live_ids.hpp"

// A report is cut by its bytes and by the tasks that are looked at for it, and says where: the site
// goes on from there.

namespace muster {
namespace {

constexpr std::size_t kReportBytes = kListBytes / 2;
/// Ranges of one job in a report.
constexpr std::size_t kMostRanges = 4'096;
/// Tasks that are looked at for one report, or those of a single job.
constexpr std::size_t kMostLooks = 200'000;

/// Of a job that is here: its tasks that are over, from the position that was asked for.
TasksOver over_of(const JobRow& row, const ClusterState& state, const CounterpartsAsked& asked) {
  TasksOver over;
  over.job = asked.job;
  over.known = true;
  over.started = row.started;
  over.ended = row.ended();
  if (asked.from == 0 && asked.ended == over.ended) return over;
  IndexRanges completed, failed;
  std::size_t ends = 0;
  const auto tasks = static_cast<std::uint32_t>(row.tasks.size());
  std::uint32_t at = asked.from;
  for (; at < tasks && ends < kMostRanges; ++at) {
    const TaskPhase phase = state.task(row.tasks[at]).phase;
    if (phase != TaskPhase::finished && phase != TaskPhase::failed) continue;
    IndexRanges& of_phase = phase == TaskPhase::finished ? completed : failed;
    const std::uint32_t index = row.job.tasks[at].array_index;
    // Each but one that goes on a range may be a range of its own.
    if (index == 0 || !of_phase.contains(index - 1)) ++ends;
    of_phase.add({index, index});
  }
  over.next = at < tasks ? at : 0;
  over.completed = completed.list();
  over.failed = failed.list();
  return over;
}

/// Of a job that is over; how its tasks ended may be forgotten where all is well. The site goes on
/// from a range, the completed ones first, and not from a task: it does not matter whether the
/// whole job is still kept.
TasksOver over_of(const CounterpartsAsked& asked, const std::optional<JobEnding>& known) {
  TasksOver over;
  over.job = asked.job;
  over.known = over.started = over.over = true;
  if (!known) return over;
  over.tasks = known->tasks;
  const std::size_t completed = count_ranges(known->completed);
  const std::size_t all = completed + count_ranges(known->failed);
  over.completed = ranges_of(known->completed, asked.from, kMostRanges);
  const std::size_t left = kMostRanges - over.completed.size();
  over.failed =
      ranges_of(known->failed, std::max<std::size_t>(asked.from, completed) - completed, left);
  const std::size_t until = asked.from + over.completed.size() + over.failed.size();
  over.next = until < all ? static_cast<std::uint32_t>(until) : 0;
  return over;
}

}  // namespace

void CounterpartAnswers::answer(const CounterpartQuestion& asked,
                                const PartAnswer<CounterpartReport>& answer) const {
  CounterpartReport report;
  report.unfinished = hear(asked.told);
  put_awaiting(report, asked);
  std::vector<CounterpartsAsked> past = put_present(report, asked);
  // All that is told is durable.
  parts_.host.commit([this, report = std::move(report), past = std::move(past), answer]() mutable {
    put_past(std::move(report), std::move(past), answer);
  });
}

/// Jobs of which there is more to hear.
std::vector<JobId> CounterpartAnswers::hear(const std::vector<CounterpartsTold>& told) const {
  std::vector<JobId> unfinished;
  CounterpartBudget budget;
  for (const CounterpartsTold& each : told) {
    if (parts_.master.ends().hear_counterparts(each, budget, parts_.host.stamp())) {
      unfinished.push_back(each.job);
    }
  }
  if (!told.empty() && parts_.master.cadence().on_arrival) parts_.host.want_round();
  return unfinished;
}

/// Those of the site's jobs that are higher than the one that it has named.
void CounterpartAnswers::put_awaiting(CounterpartReport& report,
                                      const CounterpartQuestion& asked) const {
  const std::set<JobId>& awaiting = parts_.master.facts().awaiting;
  const JobId first = asked.after.valid() ? asked.after : job_id_of(asked.site, 0);
  ByteCut cut(kReportBytes / 2);
  for (auto it = awaiting.upper_bound(first); it != awaiting.end(); ++it) {
    if (site_of(*it) != asked.site) return;
    const Job& waiting = parts_.master.state().find(*it)->job;
    AwaitingJob job{*it, waiting.user, {}};
    for (const AfterJob& each : waiting.after) {
      if (each.by_index) job.after.push_back({each.job, each.end});
    }
    if (!cut.takes(job)) {
      report.more_await = true;
      return;
    }
    report.awaiting.push_back(std::move(job));
  }
}

/// Puts in the jobs that are here; those that were here before are left.
std::vector<CounterpartsAsked> CounterpartAnswers::put_present(
    CounterpartReport& report, const CounterpartQuestion& asked) const {
  const MasterFacts& facts = parts_.master.facts();
  std::vector<CounterpartsAsked> past;
  ByteCut cut(kReportBytes);
  std::size_t looks = 0;
  for (const CounterpartsAsked& each : asked.asked) {
    const JobRow* row = facts.state.find(each.job);
    if (row == nullptr && (facts.accepted.contains(each.job.value) || parts_.reads.has(each.job))) {
      past.push_back(each);
      report.asked_to = each.job;
      continue;
    }
    TasksOver over{each.job};
    if (row != nullptr) {
      // Of one that the site knows as it is no task is looked at.
      const bool is_new = each.from > 0 || each.ended != row->ended();
      if (is_new && looks > kMostLooks) return past;
      if (is_new) looks += row->tasks.size();
      over = over_of(*row, facts.state, each);
    }
    if (!cut.takes(over)) return past;
    report.over.push_back(std::move(over));
    report.asked_to = each.job;
  }
  report.asked_to = JobId{};
  return past;
}

/// The history is read apart.
void CounterpartAnswers::put_past(CounterpartReport report, std::vector<CounterpartsAsked> past,
                                  const PartAnswer<CounterpartReport>& answer) const {
  if (past.empty()) return answer(std::move(report));
  const History* history = parts_.reads.history();
  if (history == nullptr) {
    for (const CounterpartsAsked& each : past) report.over.push_back(over_of(each, {}));
    return answer(std::move(report));
  }
  parts_.reads.answer<CounterpartReport>(
      [history, report = std::move(report), past = std::move(past)]() mutable {
        ByteCut cut(kReportBytes / 2);
        std::size_t looks = 0;
        JobId last;
        for (const CounterpartsAsked& each : past) {
          // Those behind the cut that were answered above are asked for once more.
          const bool is_enough = looks > kMostLooks;
          TasksOver over;
          if (!is_enough) {
            const auto known = history->ending(each.job);
            // It is asked for again.
            if (!known) continue;
            looks += known.value() ? known.value()->tasks + std::size_t{1} : 1;
            over = over_of(each, known.value());
          }
          if (is_enough || !cut.takes(over)) {
            report.asked_to = last;
            break;
          }
          report.over.push_back(std::move(over));
          last = each.job;
        }
        return report;
      },
      answer);
}

}  // namespace muster
