#include "masters/actor/site_requests.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "model/live_ids.hpp"
#include "model/submission_digest.hpp"

namespace muster {
namespace {

JobEnd end_of(const JobEnding& known) {
  return {known.job, known.outcome, known.first, known.tasks, known.whole, known.broken};
}

/// Of a job of which the history keeps no ending no more is known than whether it was well, and not
/// always that: it has no tasks.
JobEnd forgotten_end(JobId job, const MasterFacts& facts) {
  JobEnd end;
  end.job = job;
  end.known = facts.completed.contains(job.value) || facts.failed.contains(job.value);
  if (facts.failed.contains(job.value)) end.outcome = JobOutcome::failed;
  return end;
}

SubmitVerdict conflict_of(JobId id) {
  return {id, false,
          "the number " + std::to_string(id.value) +
              " is that of another job: its site has lost count of the numbers that it gave out",
          true};
}

}  // namespace

SiteRequests::SiteRequests(const Parts& parts, std::size_t max_watches, Host host)
    : master_(parts.master),
      reads_(parts.reads),
      host_(parts.host),
      hooks_(std::move(host)),
      deadlines_(parts.master, parts.host),
      counterparts_({parts.master, parts.reads, parts.host}),
      listeners_(max_watches) {}

/// The job was here, however long ago.
bool SiteRequests::is_over(JobId id) const {
  if (master_.state().find(id) != nullptr) return false;
  return master_.facts().accepted.contains(id.value) || reads_.has(id);
}

void SiteRequests::submit(std::vector<Job> jobs, const PartAnswer<Verdicts>& answer) {
  if (!hooks_.takes_jobs()) return answer(caf::make_error(ActorError::store_failed));
  Verdicts verdicts;
  std::vector<Job> in_history;
  for (Job& job : jobs) verdicts.push_back(offer(std::move(job), in_history));
  if (master_.cadence().on_arrival) host_.want_round();
  host_.commit([this, answer, verdicts, in_history = std::move(in_history)]() mutable {
    compare_with_history(std::move(in_history), std::move(verdicts), answer);
  });
}

/// A site hands a job over again when it has not heard that it arrived. A job that has the
/// number of another one is not that: its site has lost count of its numbers.
SubmitVerdict SiteRequests::offer(Job job, std::vector<Job>& in_history) {
  const JobId id = job.id;
  if (const JobRow* row = master_.state().find(id)) {
    return same_submission(row->job, job) ? SubmitVerdict{id, true, {}} : conflict_of(id);
  }
  if (is_over(id)) {
    // The history is read apart; for a job without a token that is not worth it.
    if (!job.token.empty() && reads_.has(id)) in_history.push_back(std::move(job));
    return {id, true, {}};
  }
  const std::optional<Instant> deadline = job.deadline;
  if (master_.submit(std::move(job), host_.stamp()) != SubmitResult::invalid) {
    // One that was refused for good is over.
    if (deadline && master_.state().find(id) != nullptr) deadlines_.add(id, *deadline);
    return {id, true, {}};
  }
  return {id, false, "the job or a task of it is not valid"};
}

/// Answers when it is known whether these, which are over here, are the jobs that the history has.
void SiteRequests::compare_with_history(std::vector<Job> jobs, Verdicts verdicts,
                                        const PartAnswer<Verdicts>& answer) const {
  if (jobs.empty()) return answer(std::move(verdicts));
  reads_.answer<Verdicts>(
      [history = reads_.history(), jobs = std::move(jobs), verdicts]() mutable {
        for (const Job& job : jobs) {
          const auto known = history->find(job.id);
          if (!known || same_submission(known->job, job)) continue;
          for (SubmitVerdict& verdict : verdicts) {
            if (verdict.job == job.id) verdict = conflict_of(job.id);
          }
        }
        return verdicts;
      },
      answer);
}

void SiteRequests::cancel(const std::vector<JobId>& jobs,
                          const PartAnswer<std::vector<CancelVerdict>>& answer) {
  std::vector<CancelVerdict> verdicts;
  for (const JobId id : jobs) {
    CancelVerdict verdict{id, CancelStanding::unknown};
    if (master_.state().find(id) != nullptr) {
      verdict.standing = CancelStanding::ended;
      master_.cancel(id, host_.stamp());
    } else if (is_over(id)) {
      verdict.standing = CancelStanding::over;
      note_cancel(id);
    }
    verdicts.push_back(verdict);
  }
  host_.commit([answer, verdicts] { answer(verdicts); });
}

/// A site that cancels what is over here has heard of it or has a user who wants it, and has
/// written that down before, or has told its user that it could not.
void SiteRequests::note_cancel(JobId id) {
  const std::deque<JobId>& broken = master_.facts().terminal_parts;
  const std::deque<FailedPart>& failed = master_.facts().failed_parts;
  const bool told = std::find(broken.begin(), broken.end(), id) != broken.end() ||
                    std::ranges::find(failed, id, &FailedPart::job) != failed.end();
  if (!told) return;
  seen_to_.insert(id);
  if (seen_to_.size() <= 2 * (broken.size() + failed.size())) return;
  std::set<JobId> known(broken.begin(), broken.end());
  for (const FailedPart& part : failed) known.insert(part.job);
  std::erase_if(seen_to_, [&known](JobId job) { return !known.contains(job); });
}

void SiteRequests::watch(const JobListener& listener, const std::vector<JobId>& jobs,
                         const PartAnswer<std::vector<JobEnd>>& answer) {
  if (!listener) return answer(caf::make_error(ActorError::unknown));
  if (!listeners_.has_room(jobs.size())) {
    return answer(caf::make_error(ActorError::not_connected));
  }
  std::vector<JobId> over;
  for (const JobId job : jobs) {
    if (is_over(job)) {
      over.push_back(job);
    } else if (listeners_.add(listener, job)) {
      hooks_.monitor(listener);
    }
  }
  // An end is told when it is durable.
  host_.commit([this, over = std::move(over), answer] { tell_ends(over, answer); });
}

void SiteRequests::unwatch(const JobListener& listener, const std::vector<JobId>& jobs) {
  for (const JobId job : jobs) listeners_.remove(listener, job);
}

bool SiteRequests::drop(const caf::actor_addr& listener) {
  const bool known = listeners_.knows(listener);
  if (known) listeners_.drop(listener);
  return known;
}

void SiteRequests::tell(const JobEnd& end) {
  newest_ends_.add(end);
  deadlines_.drop(end.job);
  for (const JobListener& listener : listeners_.take(end.job)) hooks_.tell(listener, end);
}

void SiteRequests::tell_ends(std::vector<JobId> over,
                             const PartAnswer<std::vector<JobEnd>>& answer) const {
  using Ends = std::vector<JobEnd>;
  Ends ends;
  std::erase_if(over, [&](JobId job) {
    const JobEnd* end = newest_ends_.find(job);
    if (end != nullptr) ends.push_back(*end);
    return end != nullptr;
  });
  if (over.empty()) return answer(std::move(ends));
  const History* history = reads_.history();
  if (history == nullptr) {
    for (const JobId job : over) ends.push_back(forgotten_end(job, master_.facts()));
    return answer(std::move(ends));
  }
  std::vector<JobEnd> forgotten;  // the master's facts stay with it
  for (const JobId job : over) forgotten.push_back(forgotten_end(job, master_.facts()));
  reads_.answer_if_read<Ends>(
      [history, forgotten = std::move(forgotten),
       ends = std::move(ends)]() mutable -> std::optional<Ends> {
        bool reads = false;
        for (const JobEnd& each : forgotten) {
          const auto known = history->ending(each.job);
          reads |= known.has_value();
          ends.push_back(known && known.value() ? end_of(*known.value()) : each);
        }
        // The site asks again where nothing can be read now. A single record that cannot be read is
        // damaged, and holds up no others.
        if (!reads) return std::nullopt;
        return std::move(ends);
      },
      answer);
}

LoadReport SiteRequests::load(const LoadQuestion& asked, std::uint64_t run) const {
  const ClusterState& state = master_.state();
  LoadReport report;
  report.active_jobs = state.jobs().size();
  report.pending_tasks = state.pending().size();
  report.instances = state.instances().size();
  report.load = master_.load();
  report.used = state.sums().used.value();
  report.capacity = state.sums().capacity.value();
  for (const JobId job : master_.facts().terminal_parts) {
    if (!seen_to_.contains(job)) report.broken.push_back(job);
  }
  put_failed(report, asked.failed_after);
  report.counting = master_.facts().counted.size();
  report.awaits = !master_.facts().awaiting.empty();
  report.run = run;
  put_completed(report, asked);
  report.newest = newest_of_sites(master_.facts().accepted);
  return report;
}

/// Those of the lowest jobs, where there are more than go into a message.
void SiteRequests::put_failed(LoadReport& report, JobId after) const {
  const auto low = [](const FailedPart& a, const FailedPart& b) { return a.job < b.job; };
  report.failed = master_.facts().failing_parts();
  for (const FailedPart& part : master_.facts().failed_parts) {
    if (!seen_to_.contains(part.job)) report.failed.push_back(part);
  }
  std::erase_if(report.failed,
                [&](const FailedPart& part) { return after.valid() && part.job <= after; });
  std::sort(report.failed.begin(), report.failed.end(), low);
  report.more_failed = cut_to_message(report.failed, kListBytes / 2) > 0;
}

/// A site says with its next question what it has heard; until then it is told all of it again.
void SiteRequests::put_completed(LoadReport& report, const LoadQuestion& asked) const {
  const std::uint64_t all = master_.ends().completed_count();
  const std::uint64_t heard = asked.run == report.run ? std::min(asked.completed, all) : 0;
  const std::deque<CompletedJob>& known = master_.ends().completed();
  const std::size_t skipped = known.size() - std::min<std::uint64_t>(all - heard, known.size());
  for (std::size_t i = skipped; i < known.size(); ++i) {
    report.completed.push_back({known[i].job, known[i].tasks, known[i].together});
  }
  report.completed_to = all - cut_to_message(report.completed, kListBytes / 4);
}

}  // namespace muster
