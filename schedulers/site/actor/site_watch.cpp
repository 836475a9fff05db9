// How those who wait for jobs hear of their ends. Masters tell of the parts that they had, and the
// site of those that none had; nobody has to know which of them had one: a job is over when the
// parts that are have all of its tasks.

#include <algorithm>
#include <utility>

#include "schedulers/site/actor/site_actor.hpp"

namespace muster {
namespace {

/// The worst outcome of the parts is the job's.
int badness(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::completed:
      return 0;
    case JobOutcome::cancelled:
      return 1;
    case JobOutcome::refused:
      return 2;
    case JobOutcome::failed:
      return 3;
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

/// Asks all masters each time, for what they knew of this site may have got lost with a link.
caf::result<SiteScheduler::Ends> SiteScheduler::watch(const JobListener& listener,
                                                      const std::vector<JobId>& jobs) {
  if (!listener) return ActorError::unknown;
  if (!listeners_.has_room(jobs.size())) return ActorError::not_connected;
  for (JobId job : jobs) {
    if (listeners_.add(listener, job)) monitor(listener);
    subscriptions_.try_emplace(job);
  }
  auto asking = std::make_shared<PendingWatch>();
  asking->answer = make_response_promise<Ends>();
  asking->listener = listener;
  const auto answer = asking->answer;
  // Copied first: an end may begin a cancel, which adds to what has ended here.
  std::vector<EndedHandoff> ended;
  for (JobId job : jobs) {
    ended_.parts_of(job, [&](const EndedHandoff& part) { ended.push_back(part); });
  }
  for (const EndedHandoff& part : ended) part_ended_here(part, asking.get());
  const auto pieces = watch_pieces(jobs);
  asking->open = masters_.size() * pieces.size();
  for (std::size_t i = 0; i < masters_.size(); ++i) {
    for (const std::vector<JobId>& piece : pieces) watch_at(i, piece, asking);
  }
  if (asking->open == 0) answered(*asking);
  return answer;
}

/// Until the master has answered or nobody watches the jobs any more. Without `asking` it is asked
/// again.
void SiteScheduler::watch_at(std::size_t master, std::vector<JobId> jobs,
                             std::shared_ptr<PendingWatch> asking) {
  const auto settled = [this, master, asking](const std::vector<JobId>& unanswered) {
    if (asking) {
      answered(*asking);
    } else {
      masters_[master].asks_again = false;
    }
    watch_again(master, unanswered);
  };
  const auto heard = [this, asking, settled](const Ends& ends) {
    for (const JobEnd& end : ends) over(end, asking.get());
    settled({});
  };
  const auto failed = [settled, jobs](const caf::error&) { settled(jobs); };
  request(masters_[master].master, parts_.accept_timeout, watch_atom_v, JobListener{this},
          std::move(jobs))
      .then(heard, failed);
}

/// One question at a time, after a pause, however many have asked meanwhile.
void SiteScheduler::watch_again(std::size_t master, const std::vector<JobId>& jobs) {
  HandoffPeer& to = masters_[master];
  to.unanswered.insert(jobs.begin(), jobs.end());
  if (to.asks_again || to.unanswered.empty()) return;
  to.asks_again = true;
  timer_.at(now() + settings_.hand_retry, [this, master] {
    std::set<JobId> open = std::exchange(masters_[master].unanswered, {});
    std::erase_if(open, [this](JobId job) { return !subscriptions_.contains(job); });
    if (open.empty()) {
      masters_[master].asks_again = false;
      return;
    }
    auto pieces = watch_pieces({open.begin(), open.end()});
    // The others come when these are answered.
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      masters_[master].unanswered.insert(pieces[i].begin(), pieces[i].end());
    }
    watch_at(master, std::move(pieces.front()), nullptr);
  });
}

/// One master more has said what it knows, or has not in time.
void SiteScheduler::answered(PendingWatch& asking) {
  if (asking.open > 0 && --asking.open > 0) return;
  asking.answer.deliver(std::move(asking.ends));
}

/// A part is over: the job is with its last one. When some of its tasks had no end of their own,
/// the other parts are for nothing. Who has just asked hears of it in the answer, everybody else by
/// a message.
void SiteScheduler::over(const JobEnd& end, PendingWatch* asking) {
  const auto found = subscriptions_.find(end.job);
  if (found == subscriptions_.end()) return;
  JobSubscription& watched = found->second;
  // Masters repeat ends until nobody watches; a part is known by its first task.
  if (std::find(watched.parts.begin(), watched.parts.end(), end.first) != watched.parts.end()) {
    return;
  }
  watched.parts.push_back(end.first);
  watched.tasks += end.tasks;
  if (badness(end.outcome) > badness(watched.outcome)) watched.outcome = end.outcome;
  if (watched.tasks < end.whole) {
    // The job cannot be completed: its other parts are cancelled. Not so where two jobs share the
    // number, one of which may be well.
    if (end.broken && !conflicts_.contains(end.job)) begin_cancel(end.job);
    return;
  }
  const JobEnd whole{end.job, watched.outcome, 0, end.whole, end.whole};
  // Those that have told of their part have dropped the subscription themselves.
  if (watched.parts.size() < masters_.size()) unwatch({end.job});
  subscriptions_.erase(found);
  over_.add(end.job);
  for (const JobListener& listener : listeners_.take(end.job)) {
    if (asking != nullptr && listener == asking->listener) {
      asking->ends.push_back(whole);
    } else {
      send(listener, over_atom_v, whole);
    }
  }
}

/// No master has had the part: who was to have it tells it from the others. A job whose number was
/// another's says nothing of that one.
void SiteScheduler::part_ended_here(const EndedHandoff& ended, PendingWatch* asking) {
  if (ended.conflict) return;
  // Sets the part apart from all that masters tell of.
  constexpr std::uint32_t kNoTask = 1U << 31U;  // above the positions of tasks
  JobEnd end{ended.job.id, ended.outcome, kNoTask + ended.to.index, ended.tasks, ended.tasks, true};
  if (ended.job.total_tasks > 0) end.whole = ended.job.total_tasks;
  over(end, asking);
}

void SiteScheduler::drop_listener(const caf::actor_addr& listener) {
  // A job that others watch as well stays subscribed.
  const std::vector<JobId> alone = listeners_.drop(listener);
  if (alone.empty()) return;
  for (JobId job : alone) subscriptions_.erase(job);
  unwatch(alone);
}

void SiteScheduler::unwatch(const std::vector<JobId>& jobs) {
  for (const std::vector<JobId>& piece : watch_pieces(jobs)) {
    for (const HandoffPeer& each : masters_) {
      send(each.master, unwatch_atom_v, JobListener{this}, piece);
    }
  }
}

}  // namespace muster
