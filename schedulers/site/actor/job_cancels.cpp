#include "schedulers/site/actor/job_cancels.hpp"

#include <algorithm>
#include <utility>

namespace muster {

JobCancels::JobCancels(const Parts& parts, const Bounds& bounds, Host host)
    : parts_(parts), bounds_(bounds), host_(std::move(host)) {
  for (const std::vector<SitePeer>* peers : {&parts_.peers.sites(), &parts_.peers.masters()}) {
    for (const SitePeer& each : *peers) cancels_.add_party(each.to);
  }
}

void JobCancels::recall(JobId job) {
  cancels_.open(job);
  open_[job].durable = true;
}

void JobCancels::cancel(JobId id, const Answer& answer) {
  const bool open = cancels_.contains(id);
  const auto standing = open ? std::nullopt : known_standing(id);
  const bool refused = !open && !standing && cancels_.size() >= bounds_.most_open;
  if (standing || refused) {
    if (!answer) return;
    if (standing) return answer(CancelReport{id, *standing, {}});
    return answer(Failure<ActorError>{ActorError::too_many, {}});
  }
  if (answer) {
    auto waiter = std::make_shared<Waiter>(Waiter{answer});
    open_[id].waiters.push_back(waiter);
    host_.after(bounds_.answer_after, [this, id, waiter] {
      waiter->due = true;
      answer_due(id);
    });
  }
  if (!open) {
    begin(id);
  } else if (const Open& known = open_[id]; !known.durable && !known.trouble.empty()) {
    write(id);  // a cancel that could not be kept may be kept by now
  }
}

/// State of a cancel for which no master need be asked.
std::optional<CancelStanding> JobCancels::known_standing(JobId job) const {
  if (over_.contains(job)) return CancelStanding::over;
  const std::uint32_t site = site_of(job);
  // A number that no site has, or that this one has not given out yet, stands for no job.
  const bool of_no_site = bounds_.site_numbers > 0 && site >= bounds_.site_numbers;
  const bool not_given = site == parts_.peers.number() && !parts_.numbers.has_given(job);
  if (of_no_site || not_given) return CancelStanding::unknown;
  std::uint32_t ended = 0;
  std::uint32_t whole = 1;
  parts_.ended.parts_of(job, [&](const EndedHandoff& part) {
    // The end of a job that came with another's number says nothing of that one.
    if (part.conflict) return;
    ended += part.tasks;
    whole = std::max(part.job.total_tasks, part.tasks);
  });
  const bool long_ago = ended == 0 && parts_.ended.outcome_of(job).has_value();
  return ended >= whole || long_ago ? std::optional(CancelStanding::over) : std::nullopt;
}

void JobCancels::begin(JobId id) {
  cancels_.prepare(id);
  write(id);
}

void JobCancels::on_kept(JobId id) {
  cancels_.open(id);
  Open& cancel = open_[id];
  cancel.durable = true;
  cancel.trouble.clear();
  answer_due(id);
  ask_all();
}

/// It is answered when the outcome of the write is known. A cancel that cannot be kept is asked for
/// nevertheless: its user wants it.
void JobCancels::write(JobId id) {
  open_[id].trouble.clear();
  SiteNews news;
  news.cancels.push_back(id);
  parts_.writer.persist(std::move(news), [this, id](const std::string& trouble) {
    const auto found = open_.find(id);
    if (found == open_.end()) return;  // everybody has confirmed it already
    found->second.durable = trouble.empty();
    found->second.trouble = trouble;
    cancels_.open(id);
    answer_due(id);
    ask_all();
  });
}

/// The own site first: a job that has not left it need not be looked for elsewhere.
void JobCancels::ask_all() {
  ask(parts_.peers.self().to);
  for (const std::vector<SitePeer>* peers : {&parts_.peers.sites(), &parts_.peers.masters()}) {
    for (const SitePeer& each : *peers) ask(each.to);
  }
}

void JobCancels::ask(const HandoffTarget& to) {
  bool& busy = busy_[to];
  if (busy) return;
  const std::vector<OpenCancels::Asked> asked = cancels_.next(to, bounds_.most_asked);
  if (asked.empty()) return;
  busy = true;
  std::vector<JobId> jobs;
  for (const OpenCancels::Asked& each : asked) jobs.push_back(each.job);
  // Silence is no verdict at all: on_verdicts() asks again for jobs without one.
  host_.ask(to, std::move(jobs),
            [this, to, asked](const Verdicts& verdicts) { on_verdicts(to, asked, verdicts); });
}

/// A peer that did not answer, or has the job on its way, is asked again after a pause.
void JobCancels::on_verdicts(const HandoffTarget& from,
                             const std::vector<OpenCancels::Asked>& asked,
                             const Verdicts& verdicts) {
  std::map<JobId, CancelStanding> said;
  for (const CancelVerdict& verdict : verdicts) said[verdict.job] = verdict.standing;
  bool again = false;
  for (const OpenCancels::Asked& each : asked) {
    const auto found = said.find(each.job);
    const bool numbers_it = from.site && from.index == site_of(each.job);
    if (numbers_it && found != said.end() && found->second == CancelStanding::unknown) {
      // There is no such job yet: when there is one, somebody else will have been meant.
      if (cancels_.contains(each.job)) end(each.job);
    } else if (found == said.end() || found->second >= CancelStanding::in_hand) {
      cancels_.put_back(from, each);
      again = true;
    } else if (cancels_.confirm(from, each, found->second)) {
      end(each.job);
    }
  }
  // One pause for all jobs of the answer; others wait with them, since requests go one at a time.
  if (again) {
    resting_.insert(from);
    host_.after(bounds_.retry, [this, from] { end_rest(from); });
  } else {
    busy_[from] = false;
  }
  ask_all();
}

void JobCancels::end_rest(const HandoffTarget& whom) {
  if (resting_.erase(whom) == 0) return;
  busy_[whom] = false;
  ask(whom);
}

/// Everybody has confirmed it.
void JobCancels::end(JobId id) {
  const CancelReport report{id, cancels_.standing(id), {}};
  // Remembered, so that a repetition is answered without asking everybody again.
  if (report.standing == CancelStanding::over) over_.add(id);
  cancels_.close(id);
  const auto found = open_.find(id);
  for (const std::shared_ptr<Waiter>& each : found->second.waiters) {
    if (!std::exchange(each->given, true)) each->answer(report);
  }
  open_.erase(found);
  // The record goes last: a crash before it repeats the cancel, which does no harm.
  parts_.store.cancelled(id);
}

/// Answers those who have waited long enough, once it is known whether the cancel is durable.
void JobCancels::answer_due(JobId id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  const Open& cancel = found->second;
  if (!cancel.durable && cancel.trouble.empty()) return;
  CancelReport report{id, cancels_.standing(id), {}};
  for (const HandoffTarget& each : cancels_.unconfirmed(id)) {
    report.unconfirmed.push_back(parts_.peers.name_of(each));
  }
  for (const std::shared_ptr<Waiter>& each : cancel.waiters) {
    if (!each->due || std::exchange(each->given, true)) continue;
    if (cancel.durable) {
      each->answer(report);
    } else {
      each->answer(Failure<ActorError>{ActorError::store_failed, cancel.trouble});
    }
  }
  std::erase_if(found->second.waiters, [](const auto& each) { return each->given; });
}

}  // namespace muster
