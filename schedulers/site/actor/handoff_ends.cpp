#include "schedulers/site/actor/handoff_ends.hpp"

#include <algorithm>
#include <utility>

namespace muster {

HandoffEnds::HandoffEnds(const Parts& parts, std::size_t most, Host host)
    : parts_(parts), host_(std::move(host)), ended_(most) {}

void HandoffEnds::recall(PastEnds past, std::vector<EndedHandoff> ended) {
  ended_.recall(std::move(past));
  for (EndedHandoff& each : ended) {
    if (each.conflict) parts_.numbers.note_conflict(each.job.id);
    ended_.add(std::move(each));
  }
}

void HandoffEnds::cancel(const std::vector<JobId>& jobs,
                         const std::function<void(const Verdicts&)>& then) {
  Verdicts verdicts;
  SiteNews news;
  for (const JobId job : jobs) verdicts.push_back(cancel(job, news.ended));
  if (news.ended.empty()) return then(verdicts);
  persist(std::move(news), [this, verdicts, then](const Endings& ended, bool durable) mutable {
    // It could not be written down: they go out again, and the asker is to ask again.
    if (!durable) resume(ended);
    for (CancelVerdict& verdict : verdicts) {
      if (!durable && verdict.standing == CancelStanding::ended) {
        verdict.standing = CancelStanding::in_hand;
      }
    }
    then(verdicts);
  });
}

/// Adds to `ended` what of the job ends here.
CancelVerdict HandoffEnds::cancel(JobId job, Endings& ended) {
  CancelVerdict verdict{job, CancelStanding::unknown};
  // It was here and may have gone on: all who are further down have to be asked.
  if (parts_.numbers.has_given(job) || host_.was_forwarded(job)) {
    verdict.standing = CancelStanding::passed_on;
  }
  // However long ago that was. Parts that are still on their way are looked for below.
  if (ended_.outcome_of(job)) verdict.standing = CancelStanding::over;
  for (const HandoffTarget& to : parts_.peers.all()) {
    const PendingHandoff* found = parts_.handoffs.find(to, job);
    if (found == nullptr) continue;
    const bool may_have_left = found->sent || found->ending;
    const auto here = may_have_left ? CancelStanding::in_hand : CancelStanding::ended;
    // The highest standing of all its parts is the job's.
    verdict.standing = std::max(verdict.standing, here);
    if (may_have_left) continue;
    ended.push_back(begin_end(to, job, JobOutcome::cancelled, "cancelled before a master had it"));
  }
  return verdict;
}

EndedHandoff HandoffEnds::begin_end(const HandoffTarget& to, JobId job, JobOutcome outcome,
                                    std::string reason) {
  EndedHandoff ended = parts_.handoffs.begin_end(to, job, outcome, std::move(reason));
  ended.at = host_.now();
  return ended;
}

/// Calls `then` when the ends are durable and can be seen, or could not be kept.
void HandoffEnds::persist(SiteNews news,
                          std::function<void(const Endings& ended, bool durable)> then) {
  Endings ended = news.ended;
  parts_.writer.persist(std::move(news), [this, ended = std::move(ended),
                                          then = std::move(then)](const std::string& trouble) {
    if (!trouble.empty()) return then(ended, false);
    for (const EndedHandoff& each : ended) {
      parts_.handoffs.end(each.to, each.job.id);
      ended_.add(each);
      host_.ended(each);
    }
    then(ended, true);
  });
}

/// It could not be written down that they have ended.
void HandoffEnds::resume(const Endings& ended) {
  for (const EndedHandoff& each : ended) parts_.handoffs.resume(each.to, each.job.id);
}

void HandoffEnds::skip(const std::vector<SkippedJob>& jobs) {
  to_skip_.insert(to_skip_.end(), jobs.begin(), jobs.end());
  if (!std::exchange(skips_, true)) skip_next();
}

/// Some hundred at a time: others are heard between, and the store takes them.
void HandoffEnds::skip_next() {
  constexpr std::size_t kAtOnce = 500;
  const HandoffTarget here = parts_.peers.self().to;
  const auto end =
      to_skip_.begin() + static_cast<std::ptrdiff_t>(std::min(kAtOnce, to_skip_.size()));
  const std::vector<SkippedJob> jobs(to_skip_.begin(), end);
  to_skip_.erase(to_skip_.begin(), end);
  SiteNews news;
  std::vector<SkippedJob> later;
  for (const SkippedJob& each : jobs) {
    const PendingHandoff* found = parts_.handoffs.find(here, each.job);
    // It has begun, or a cancel ends it already.
    if (found == nullptr || found->ending) continue;
    if (found->sent) {
      later.push_back(each);
    } else {
      news.ended.push_back(begin_end(here, each.job, each.outcome, each.reason));
    }
  }
  if (news.ended.empty()) return skipped(std::move(later));
  persist(std::move(news), [this, jobs, later](const Endings& ended, bool durable) {
    if (!durable) resume(ended);
    skipped(durable ? later : jobs);
  });
}

/// One write has ended; these are to be tried again.
void HandoffEnds::skipped(std::vector<SkippedJob> later) {
  if (!later.empty()) {
    to_skip_.insert(to_skip_.end(), later.begin(), later.end());
    return host_.retry([this] { skip_next(); });
  }
  skips_ = !to_skip_.empty();
  if (skips_) skip_next();
}

void HandoffEnds::refuse(const HandoffTarget& by, const std::vector<SubmitVerdict>& verdicts) {
  SiteNews news;
  for (const SubmitVerdict& verdict : verdicts) {
    const PendingHandoff* found = parts_.handoffs.find(by, verdict.job);
    // A repeated verdict about an end that is being written.
    if (found == nullptr || found->ending) continue;
    news.ended.push_back(begin_end(by, verdict.job, JobOutcome::refused, verdict.reason));
    if (verdict.conflict) {
      news.ended.back().conflict = true;
      host_.note(parts_.peers.name_of(by) + " has another job " +
                 std::to_string(verdict.job.value) +
                 ": the one that came with that number is refused");
      parts_.numbers.note_conflict(verdict.job);
      news.asks_numbers |= parts_.numbers.learn_of_conflict(verdict.job);
      // Only a part of a job has others that are to be ended.
    } else if (found->job.total_tasks > 0) {
      news.cancels.push_back(verdict.job);
    }
  }
  if (news.ended.empty()) return;
  const std::vector<JobId> broken = news.cancels;
  persist(std::move(news), [this, broken](const Endings& ended, bool durable) {
    if (!durable) {
      // The refusals are lost, so that the parts are handed over again and refused again.
      return host_.retry([this, ended] { resume(ended); });
    }
    for (const JobId job : broken) host_.cancel_kept(job);
  });
}

}  // namespace muster
