#include "schedulers/site/open_cancels.hpp"

#include <algorithm>
#include <utility>

#include "model/live_ids.hpp"

// Counts confirmations a cancel. An answer counts for the round in which it was asked for: a party
// that is asked anew has not confirmed, whatever it said before.

namespace muster {
namespace {

/// Jobs go from lower to higher levels: the site that numbers them, other sites, masters.
int level_of(JobId job, const HandoffTarget& party) {
  if (!party.site) return 2;
  return party.index == site_of(job) ? 0 : 1;
}

}  // namespace

void OpenCancels::prepare(JobId job) {
  const auto [place, fresh] = open_.try_emplace(job);
  if (!fresh) return;
  // Every asking has a round of its own, so that late answers to an earlier one are told apart.
  ++rounds_;
  for (const HandoffTarget& party : parties_) place->second.parties[party].round = rounds_;
  place->second.unconfirmed = place->second.parties.size();
}

void OpenCancels::open(JobId job) {
  prepare(job);
  if (std::exchange(open_.at(job).asks, true)) return;
  for (const HandoffTarget& party : parties_) queue(party, job);
}

void OpenCancels::queue(const HandoffTarget& to, JobId job) {
  Queue& queue = queues_[to];
  // `queued` keeps a job from standing in the queue twice, whoever asks for it.
  if (queue.queued.insert(job).second) queue.jobs.push_back(job);
}

std::vector<OpenCancels::Asked> OpenCancels::next(const HandoffTarget& to, std::size_t most) {
  std::vector<Asked> asked;
  Queue& queue = queues_[to];
  while (!queue.jobs.empty() && asked.size() < most) {
    const JobId job = queue.jobs.front();
    queue.jobs.pop_front();
    queue.queued.erase(job);
    const auto cancel = open_.find(job);
    // Closed while it stood in the queue: no master has to be asked any more.
    if (cancel != open_.end()) asked.push_back({job, cancel->second.parties.at(to).round});
  }
  return asked;
}

void OpenCancels::put_back(const HandoffTarget& to, const Asked& asked) {
  if (open_.contains(asked.job)) queue(to, asked.job);
}

bool OpenCancels::confirm(const HandoffTarget& by, const Asked& asked, CancelStanding standing) {
  const auto found = open_.find(asked.job);
  if (found == open_.end()) return false;
  Cancel& cancel = found->second;
  // The standing counts even of an answer that confirms nothing: a job that is over stays so.
  cancel.standing = std::max(cancel.standing, standing);
  Party& party = cancel.parties.at(by);
  if (party.confirmed || party.round != asked.round) return false;
  party.confirmed = true;
  --cancel.unconfirmed;
  // The site has had the job, so that it may have gone further after others said "not here".
  if (by.site && standing != CancelStanding::unknown) ask_further_down(asked.job, cancel, by);
  return cancel.unconfirmed == 0;
}

/// Those who have not been asked yet need not be asked twice.
void OpenCancels::ask_further_down(JobId job, Cancel& cancel, const HandoffTarget& from) {
  ++rounds_;
  for (auto& [to, party] : cancel.parties) {
    if (level_of(job, to) <= level_of(job, from)) continue;
    if (queues_[to].queued.contains(job)) continue;
    party.round = rounds_;
    cancel.unconfirmed += party.confirmed;
    party.confirmed = false;
    queue(to, job);
  }
}

CancelStanding OpenCancels::standing(JobId job) const {
  const auto found = open_.find(job);
  return found == open_.end() ? CancelStanding::unknown : found->second.standing;
}

std::vector<HandoffTarget> OpenCancels::unconfirmed(JobId job) const {
  std::vector<HandoffTarget> parties;
  const auto found = open_.find(job);
  if (found == open_.end()) return parties;
  for (const auto& [to, party] : found->second.parties) {
    if (!party.confirmed) parties.push_back(to);
  }
  return parties;
}

}  // namespace muster
