// Jobs that wait: for others to be over, for a time, or to be released.

#include <fmt/format.h>

#include <algorithm>

#include "tests/simulation/invariants.hpp"

namespace muster::ring {
namespace {

/// As sites have it: of the parts of a job the worst outcome is the job's.
int badness(JobOutcome outcome) {
  if (outcome == JobOutcome::failed) return 4;
  if (outcome == JobOutcome::refused) return 3;
  if (outcome == JobOutcome::expired) return 2;
  return outcome == JobOutcome::completed ? 0 : 1;
}

}  // namespace

/// The worst outcome of the parts, at masters and at sites; nothing: it is not over.
std::optional<JobOutcome> Invariants::outcome_of(JobId job) const {
  std::optional<JobOutcome> worst;
  const auto add = [&](JobOutcome outcome) {
    if (!worst || badness(outcome) > badness(*worst)) worst = outcome;
  };
  for (const Cell& cell : cells_) {
    const auto found = cell.finished.find(job);
    if (found != cell.finished.end()) add(found->second);
  }
  for (std::uint32_t i = 0; i < cluster_.scenario().sites; ++i) {
    for (const EndedHandoff& ended : cluster_.site_disk(i).ended) {
      if (ended.job.id == job) add(ended.outcome);
    }
  }
  return worst;
}

/// The other job is over as it has to be, or one that was submitted in its place where that does.
bool Invariants::is_met_now(const Submission& waiting, std::size_t before, AfterEnd end) const {
  const std::vector<Submission>& all = users_.submissions();
  const auto is_met_by = [&](std::size_t index) {
    const Submission& other = all[index];
    if (!other.job || !rest_of(other).empty()) return false;
    const auto outcome = outcome_of(*other.job);
    return outcome && is_met(end, *outcome);
  };
  if (is_met_by(before)) return true;
  if (!waiting.wish->job.keeps_waiting) return false;
  return std::ranges::any_of(users_.pipelines().again(before, waiting.wish->site), is_met_by);
}

/// A job begins when all are over as they have to be that it waits for, when its time has come and
/// nobody holds it, and no sooner.
void Invariants::check_begun(const Submission& submission) {
  const Wish& wish = *submission.wish;
  for (const auto& [before, end] : wish.after) {
    if (is_met_now(submission, before, end)) continue;
    const Submission& other = users_.submissions()[before];
    const auto outcome = other.job ? outcome_of(*other.job) : std::nullopt;
    broken(fmt::format("job {} begins, and job {}, which it waits for ({}), is {}",
                       submission.job->value, other.job ? other.job->value : 0, name_of(end),
                       outcome ? name_of(*outcome) : "not over"));
  }
  if (wish.job.begin && cluster_.latest_clock(NodeKind::site, wish.site) < *wish.job.begin) {
    broken(fmt::format("job {} begins before its time", submission.job->value));
  }
  const auto index = static_cast<std::size_t>(&submission - users_.submissions().data());
  if (users_.pipelines().holds(index)) {
    broken(fmt::format("job {} begins, and is held", submission.job->value));
  }
}

/// When all is over, a job has begun if all that it waited for ended as it had to, and was skipped
/// if not; a user may have cancelled it before either, and its deadline may have come. Where
/// resubmissions count, only a job that was skipped cannot become what it has to be.
void Invariants::check_after(const Submission& submission) {
  check_ended_here(submission);
  const Wish& wish = *submission.wish;
  if (wish.after.empty() || submission.cancelled) return;
  bool may_begin = true;
  for (const auto& [before, end] : wish.after) {
    const auto outcome = outcome_of(*users_.submissions()[before].job);
    const bool stays = !wish.job.keeps_waiting || outcome == JobOutcome::skipped;
    may_begin &= outcome && (is_met(end, *outcome) || !stays);
  }
  const auto own = outcome_of(*submission.job);
  const bool begun = parts_.contains(*submission.job);
  if (own == JobOutcome::expired && !begun) return;
  const bool skipped = own == JobOutcome::skipped;
  if (may_begin != skipped && begun == may_begin) return;
  broken(fmt::format("job {} {} begin, and is {}", submission.job->value,
                     may_begin ? "was to" : "was not to", skipped ? "skipped" : "not skipped"));
}

/// A job that ends where it waits ends there in one way, and no master has it.
void Invariants::check_ended_here(const Submission& submission) {
  const JobId job = *submission.job;
  std::set<JobOutcome> ways;
  for (std::uint32_t i = 0; i < cluster_.scenario().sites; ++i) {
    for (const EndedHandoff& ended : cluster_.site_disk(i).ended) {
      if (ended.job.id != job || ended.to != HandoffTarget{true, i}) continue;
      ways.insert(ended.outcome);
      if (ended.outcome == JobOutcome::expired) check_expired(NodeKind::site, i, job);
    }
  }
  if (ways.empty()) return;
  if (ways.size() > 1) {
    broken(fmt::format("job {} ends where it waits as {} and as {}", job.value,
                       name_of(*ways.begin()), name_of(*ways.rbegin())));
  }
  if (parts_.contains(job)) {
    broken(fmt::format("job {} ends where it waits as {}, and has begun", job.value,
                       name_of(*ways.begin())));
  }
}

/// Users are told how a job has ended, however short histories are.
void Invariants::check_told(const Submission& submission) {
  const auto outcome = outcome_of(*submission.job);
  if (submission.told == 0 || !submission.outcome || !outcome) return;
  if (badness(*outcome) == badness(*submission.outcome)) return;
  broken(fmt::format("job {} is told to be {}, and is {}", submission.job->value,
                     name_of(*submission.outcome), name_of(*outcome)));
}

/// No job expires before a clock of those who have it shows its deadline.
void Invariants::check_expired(NodeKind kind, std::uint32_t index, JobId job) {
  for (const Submission& submission : users_.submissions()) {
    if (submission.job != job) continue;
    const auto deadline = submission.wish->job.deadline;
    if (deadline && cluster_.latest_clock(kind, index) >= *deadline) continue;
    broken(fmt::format("job {} expires before its deadline", job.value));
  }
}

}  // namespace muster::ring
