#include "schedulers/site/actor/job_watches.hpp"

#include <algorithm>
#include <utility>

#include "actors/messages/byte_cut.hpp"

namespace muster {
namespace {

/// The worst outcome of the parts is the job's. Where a part expires the others are cancelled for
/// that: the job has expired, whichever is heard first.
int badness(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::completed:
    case JobOutcome::replaced:
      return 0;
    case JobOutcome::cancelled:
    case JobOutcome::skipped:
      return 1;
    case JobOutcome::expired:
      return 2;
    case JobOutcome::refused:
      return 3;
    case JobOutcome::failed:
      return 4;
  }
  return 0;
}

/// As many at once as can all be over in one answer, which has more of each than its number.
std::vector<std::vector<JobId>> watch_pieces(const std::vector<JobId>& jobs) {
  static const std::size_t most = kListBytes / encoded_bytes(JobEnd{});
  std::vector<std::vector<JobId>> pieces;
  for (std::size_t from = 0; from < jobs.size(); from += most) {
    const auto begin = jobs.begin() + static_cast<std::ptrdiff_t>(from);
    pieces.emplace_back(begin,
                        begin + static_cast<std::ptrdiff_t>(std::min(most, jobs.size() - from)));
  }
  return pieces;
}

}  // namespace

JobWatches::JobWatches(const Parts& parts, std::size_t most, Host host)
    : parts_(parts), host_(std::move(host)), listeners_(most), unanswered_(parts.peers) {}

/// Asks all masters each time, for what they knew of this site may have got lost with a link.
void JobWatches::watch(const JobListener& listener, const std::vector<JobId>& jobs, Answer answer) {
  if (!listener) return answer(Failure<ActorError>{ActorError::unknown, {}});
  if (!listeners_.has_room(jobs.size())) {
    return answer(Failure<ActorError>{ActorError::not_connected, {}});
  }
  for (JobId job : jobs) {
    if (listeners_.add(listener, job)) host_.monitor(listener);
    subscriptions_.try_emplace(job);
  }
  auto asking = std::make_shared<PendingWatch>();
  asking->answer = std::move(answer);
  asking->listener = listener;
  hear_of_ended(jobs, asking.get());
  const auto pieces = watch_pieces(jobs);
  asking->open = parts_.peers.masters().size() * pieces.size();
  for (const SitePeer& master : parts_.peers.masters()) {
    for (const std::vector<JobId>& piece : pieces) watch_at(master.to, piece, asking);
  }
  if (asking->open == 0) answered(*asking);
}

void JobWatches::watch_here(const std::vector<JobId>& jobs) {
  for (const JobId job : jobs) subscriptions_[job].here = true;
  hear_of_ended(jobs, nullptr);
  std::vector<JobId> open = jobs;
  std::erase_if(open, [this](JobId job) { return !subscriptions_.contains(job); });
  for (const SitePeer& master : parts_.peers.masters()) watch_again(master.to, open);
  // Of one that no master ever had only the site knows at which it ended.
  for (const SitePeer& site : parts_.peers.sites()) {
    if (!parts_.peers.is_self(site.to)) watch_again(site.to, open);
  }
}

void JobWatches::unwatch_here(const std::vector<JobId>& jobs) {
  std::vector<JobId> gone;
  for (const JobId job : jobs) {
    const auto found = subscriptions_.find(job);
    if (found == subscriptions_.end() || !std::exchange(found->second.here, false)) continue;
    if (listeners_.watches(job)) continue;
    subscriptions_.erase(found);
    gone.push_back(job);
  }
  if (!gone.empty()) unwatch(gone);
}

/// The parts that ended at this site.
void JobWatches::hear_of_ended(const std::vector<JobId>& jobs, PendingWatch* asking) {
  // Copied first: an end may begin a cancel, which adds to what has ended here.
  std::vector<EndedHandoff> ended;
  std::vector<JobEnd> long_ago;
  for (const JobId job : jobs) {
    const std::size_t before = ended.size();
    parts_.ended.parts_of(job, [&](const EndedHandoff& part) {
      if (!part.conflict) ended.push_back(part);
    });
    const auto outcome = parts_.ended.outcome_of(job);
    // Without tasks: no more is known of it than that all of it is over, and how.
    if (outcome && ended.size() == before) long_ago.push_back({job, *outcome});
  }
  for (const EndedHandoff& part : ended) part_ended_here(part, asking);
  for (const JobEnd& end : long_ago) over(end, asking);
}

/// Until the master has answered or nobody watches the jobs any more. Without `asking` it is asked
/// again.
void JobWatches::watch_at(const HandoffTarget& master, std::vector<JobId> jobs,
                          std::shared_ptr<PendingWatch> asking) {
  auto heard = [this, master, asking = std::move(asking), jobs](const Ends* ends) {
    if (ends != nullptr) {
      for (const JobEnd& end : *ends) over(end, asking.get());
    }
    if (asking) {
      answered(*asking);
    } else {
      unanswered_.at(master).asks_again = false;
    }
    watch_again(master, ends != nullptr ? std::vector<JobId>{} : jobs);
  };
  host_.ask(master, std::move(jobs), std::move(heard));
}

/// One question at a time, after a pause, however many have asked meanwhile.
void JobWatches::watch_again(const HandoffTarget& master, const std::vector<JobId>& jobs) {
  Unanswered& to = unanswered_.at(master);
  to.jobs.insert(jobs.begin(), jobs.end());
  if (to.asks_again || to.jobs.empty()) return;
  to.asks_again = true;
  host_.retry([this, master] {
    Unanswered& of = unanswered_.at(master);
    std::set<JobId> open = std::exchange(of.jobs, {});
    std::erase_if(open, [this](JobId job) { return !subscriptions_.contains(job); });
    if (open.empty()) {
      of.asks_again = false;
      return;
    }
    auto pieces = watch_pieces({open.begin(), open.end()});
    // The others come when these are answered.
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      of.jobs.insert(pieces[i].begin(), pieces[i].end());
    }
    watch_at(master, std::move(pieces.front()), nullptr);
  });
}

/// One master more has said what it knows, or has not in time.
void JobWatches::answered(PendingWatch& asking) {
  if (asking.open > 0 && --asking.open > 0) return;
  asking.answer(std::move(asking.ends));
}

/// A part is over: the job is with its last one. When some of its tasks had no end of their own,
/// the other parts are for nothing. The caller hears of it in the answer, all others by a message.
void JobWatches::over(const JobEnd& end, PendingWatch* asking) {
  const auto found = subscriptions_.find(end.job);
  if (found == subscriptions_.end()) return;
  Subscription& watched = found->second;
  // Masters repeat ends until they are no longer watched; a part is known by its first task.
  // Another site speaks of the whole job, of which a part may have the first task that it names.
  // So does a master that has forgotten how many tasks there were.
  const bool whole_end = end.tasks >= end.whole;
  if (!whole_end &&
      std::find(watched.parts.begin(), watched.parts.end(), end.first) != watched.parts.end()) {
    return;
  }
  watched.parts.push_back(end.first);
  watched.tasks += end.tasks;
  if (badness(end.outcome) > badness(watched.outcome)) watched.outcome = end.outcome;
  if (watched.tasks < end.whole) {
    // The job cannot be completed: its other parts are cancelled. Not so where two jobs share the
    // number, one of which may be well.
    if (end.broken && !parts_.numbers.is_conflict(end.job)) host_.cancel(end.job);
    return;
  }
  // One failed part is enough, whatever became of those that are forgotten.
  const bool known = end.known || watched.outcome == JobOutcome::failed;
  const JobEnd whole{end.job, watched.outcome, 0, end.whole, end.whole, false, known};
  // Those that have told of their part have dropped the subscription themselves.
  if (watched.parts.size() < parts_.peers.masters().size()) unwatch({end.job});
  subscriptions_.erase(found);
  host_.over(whole);
  for (const JobListener& listener : listeners_.take(end.job)) {
    if (asking != nullptr && listener == asking->listener) {
      asking->ends.push_back(whole);
    } else {
      host_.tell(listener, whole);
    }
  }
}

/// No master has had the part: its receiver tells it from the others. A job whose number was
/// another's says nothing of that one.
void JobWatches::part_ended_here(const EndedHandoff& ended, PendingWatch* asking) {
  if (ended.conflict) return;
  // Sets the part apart from all that masters tell of.
  constexpr std::uint32_t kNoTask = 1U << 31U;  // above the positions of tasks
  JobEnd end{ended.job.id, ended.outcome, kNoTask + ended.to.index, ended.tasks, ended.tasks, true};
  if (ended.job.total_tasks > 0) end.whole = ended.job.total_tasks;
  over(end, asking);
}

void JobWatches::drop(const caf::actor_addr& listener) {
  // A job that others watch as well stays subscribed.
  std::vector<JobId> alone = listeners_.drop(listener);
  std::erase_if(alone, [this](JobId job) {
    const auto found = subscriptions_.find(job);
    return found != subscriptions_.end() && found->second.here;
  });
  if (alone.empty()) return;
  for (JobId job : alone) subscriptions_.erase(job);
  unwatch(alone);
}

void JobWatches::unwatch(const std::vector<JobId>& jobs) {
  for (const std::vector<JobId>& piece : watch_pieces(jobs)) {
    for (const SitePeer& master : parts_.peers.masters()) host_.unwatch(master.to, piece);
  }
}

void JobWatches::clear() {
  listeners_.clear();
  subscriptions_.clear();
}

}  // namespace muster
