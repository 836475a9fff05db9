// Ends at a site scheduler: cancels, which are repeated until everybody has confirmed them, and
// jobs that no master will have.

#include <algorithm>
#include <utility>

#include "model/live_ids.hpp"
#include "schedulers/site/actor/site_actor.hpp"

namespace muster {

/// A user's cancel is answered when everybody has confirmed it, or after a while, if it is durable
/// by then, with the names of those who have not.
caf::result<CancelReport> SiteScheduler::cancel(JobId id) {
  const bool open = cancels_.contains(id);
  const auto standing = open ? std::nullopt : known_standing(id);
  if (standing) return CancelReport{id, *standing, {}};
  if (!open && cancels_.size() >= parts_.max_cancels) return ActorError::too_many;
  // Without a sender the site itself cancels, and nobody waits.
  const bool asked = current_sender() != nullptr;
  auto answer = std::make_shared<CancelAnswer>();
  answer->promise = make_response_promise<CancelReport>();
  const auto promise = answer->promise;
  if (asked) {
    cancelling_[id].answers.push_back(answer);
    timer_.at(now() + parts_.cancel_wait, [this, id, answer] {
      answer->due = true;
      answer_cancels(id);
    });
  }
  if (!open) {
    begin_cancel(id);
  } else if (Cancelling& known = cancelling_[id]; !known.durable && !known.trouble.empty()) {
    write_cancel(id);  // what could not be kept may be kept by now
  }
  return promise;
}

/// How a job stands of which nobody else need be asked.
std::optional<CancelStanding> SiteScheduler::known_standing(JobId job) const {
  if (over_.contains(job)) return CancelStanding::over;
  const std::uint32_t site = site_of(job);
  // A number that no site has, or that this one has not given out yet, is nobody's job.
  const bool of_no_site = parts_.site_numbers > 0 && site >= parts_.site_numbers;
  const bool not_given = site == parts_.number && !has_given(job);
  if (of_no_site || not_given) return CancelStanding::unknown;
  std::uint32_t ended = 0;
  std::uint32_t whole = 1;
  ended_.parts_of(job, [&](const EndedHandoff& part) {
    // The end of a job that came with another's number says nothing of that one.
    if (part.conflict) return;
    ended += part.tasks;
    whole = std::max(part.job.total_tasks, part.tasks);
  });
  return ended >= whole ? std::optional(CancelStanding::over) : std::nullopt;
}

/// Asks nobody before it is durable: a master may have told of the job's end and tell no more of it
/// once it was asked.
void SiteScheduler::begin_cancel(JobId id) {
  cancels_.prepare(id);
  write_cancel(id);
}

/// The cancel is in the store.
void SiteScheduler::cancel_kept(JobId id) {
  cancels_.open(id);
  Cancelling& cancel = cancelling_[id];
  cancel.durable = true;
  cancel.trouble.clear();
  answer_cancels(id);
  ask_all_cancels();
}

/// As long as it is not known how that went, nobody is answered. What cannot be kept is asked for
/// all the same: its user wants it.
void SiteScheduler::write_cancel(JobId id) {
  cancelling_[id].trouble.clear();
  SiteNews news;
  news.cancels.push_back(id);
  persist_news(std::move(news), [this, id](const std::string& trouble) {
    const auto found = cancelling_.find(id);
    if (found == cancelling_.end()) return;  // everybody has confirmed it already
    found->second.durable = trouble.empty();
    found->second.trouble = trouble;
    cancels_.open(id);
    answer_cancels(id);
    ask_all_cancels();
  });
}

/// The own site first: what has not left it need not be looked for elsewhere.
void SiteScheduler::ask_all_cancels() {
  ask_cancels({true, parts_.number});
  for (const std::vector<HandoffPeer>* peers : {&sites_, &masters_}) {
    for (const HandoffPeer& each : *peers) ask_cancels(each.to);
  }
}

/// One request at a time to each.
void SiteScheduler::ask_cancels(const HandoffTarget& to) {
  bool& busy = asked_to_cancel_[to];
  if (busy) return;
  const std::vector<OpenCancels::Asked> asked = cancels_.next(to, parts_.hand_batch);
  if (asked.empty()) return;
  busy = true;
  std::vector<JobId> jobs;
  for (const OpenCancels::Asked& each : asked) jobs.push_back(each.job);
  // An error is no verdict at all: on_cancels() asks again for what has none.
  const auto heard = [this, to, asked](const std::vector<CancelVerdict>& verdicts) {
    on_cancels(to, asked, verdicts);
  };
  const auto failed = [this, to, asked](const caf::error&) { on_cancels(to, asked, {}); };
  if (!to.site) {
    request(peer(to).master, parts_.accept_timeout, cancel_atom_v, std::move(jobs))
        .then(heard, failed);
  } else if (to.index != parts_.number) {
    request(peer(to).site, parts_.accept_timeout, cancel_atom_v, std::move(jobs))
        .then(heard, failed);
  } else {
    end_what_is_here(jobs, heard);
  }
}

/// Who did not answer, or has the job on its way, is asked again after a pause.
void SiteScheduler::on_cancels(const HandoffTarget& from,
                               const std::vector<OpenCancels::Asked>& asked,
                               const std::vector<CancelVerdict>& verdicts) {
  std::map<JobId, CancelStanding> said;
  for (const CancelVerdict& verdict : verdicts) said[verdict.job] = verdict.standing;
  bool again = false;
  for (const OpenCancels::Asked& each : asked) {
    const auto found = said.find(each.job);
    const bool numbers_it = from.site && from.index == site_of(each.job);
    if (numbers_it && found != said.end() && found->second == CancelStanding::unknown) {
      // There is no such job yet: when there is one, somebody else will have been meant.
      if (cancels_.contains(each.job)) end_cancel(each.job);
    } else if (found == said.end() || found->second >= CancelStanding::in_hand) {
      cancels_.put_back(from, each);
      again = true;
    } else if (cancels_.confirm(from, each, found->second)) {
      end_cancel(each.job);
    }
  }
  // One pause for all jobs of the answer; others wait with them, since requests go one at a time.
  if (again) {
    resting_.insert(from);
    timer_.at(now() + settings_.hand_retry, [this, from] { ask_after_rest(from); });
  } else {
    asked_to_cancel_[from] = false;
  }
  ask_all_cancels();
}

/// Ends the pause that there is after an answer which did not settle everything.
void SiteScheduler::ask_after_rest(const HandoffTarget& whom) {
  if (resting_.erase(whom) == 0) return;
  asked_to_cancel_[whom] = false;
  ask_cancels(whom);
}

/// Everybody has confirmed it.
void SiteScheduler::end_cancel(JobId id) {
  const CancelReport report{id, cancels_.standing(id), {}};
  // Remembered, so that a repetition is answered without asking everybody again.
  if (report.standing == CancelStanding::over) over_.add(id);
  cancels_.close(id);
  const auto found = cancelling_.find(id);
  for (const std::shared_ptr<CancelAnswer>& each : found->second.answers) {
    if (!std::exchange(each->given, true)) each->promise.deliver(report);
  }
  cancelling_.erase(found);
  // The record goes last: a crash before it repeats the cancel, which does no harm.
  parts_.store->cancelled(id);
}

/// Answers those who have waited long enough, once it is known whether the cancel is durable.
void SiteScheduler::answer_cancels(JobId id) {
  const auto found = cancelling_.find(id);
  if (found == cancelling_.end()) return;
  const Cancelling& cancel = found->second;
  if (!cancel.durable && cancel.trouble.empty()) return;
  CancelReport report{id, cancels_.standing(id), {}};
  for (const HandoffTarget& each : cancels_.unconfirmed(id)) {
    report.unconfirmed.push_back(target_name(each));
  }
  for (const std::shared_ptr<CancelAnswer>& each : cancel.answers) {
    if (!each->due || std::exchange(each->given, true)) continue;
    if (cancel.durable) {
      each->promise.deliver(report);
    } else {
      each->promise.deliver(caf::make_error(ActorError::store_failed, cancel.trouble));
    }
  }
  std::erase_if(found->second.answers, [](const auto& each) { return each->given; });
}

/// Another site asks for it, and goes on asking until it is done.
caf::result<std::vector<CancelVerdict>> SiteScheduler::cancel_here(const std::vector<JobId>& jobs) {
  auto promise = make_response_promise<std::vector<CancelVerdict>>();
  end_what_is_here(jobs, [promise](const std::vector<CancelVerdict>& verdicts) mutable {
    promise.deliver(verdicts);
  });
  return promise;
}

/// Ends what can never have left this site. What may have left has to arrive first: one who has it
/// without this site's knowing would run it.
void SiteScheduler::end_what_is_here(
    const std::vector<JobId>& jobs,
    const std::function<void(const std::vector<CancelVerdict>&)>& then) {
  std::vector<CancelVerdict> verdicts;
  SiteNews news;
  for (const JobId job : jobs) {
    left_.erase(job);
    if (parts_.classifier) parts_.classifier->forget(job);
    CancelVerdict verdict{job, CancelStanding::unknown};
    // It was here and may have gone on: all who are further down have to be asked.
    if (has_given(job) || known_.find_forwarded(job)) verdict.standing = CancelStanding::passed_on;
    ended_.parts_of(job, [&](const EndedHandoff& part) {
      if (!part.conflict) verdict.standing = CancelStanding::over;
    });
    for (std::vector<HandoffPeer>* peers : {&masters_, &sites_}) {
      for (HandoffPeer& each : *peers) {
        PendingHandoff* found = each.waiting.find(job);
        if (found == nullptr) continue;
        const bool may_have_left = found->sent || found->ending;
        const auto here = may_have_left ? CancelStanding::in_hand : CancelStanding::ended;
        // The highest standing of all its parts is the job's.
        verdict.standing = std::max(verdict.standing, here);
        if (may_have_left) continue;
        news.ended.push_back(
            ending_of(*found, each.to, JobOutcome::cancelled, "cancelled before a master had it"));
      }
    }
    verdicts.push_back(verdict);
  }
  if (news.ended.empty()) return then(verdicts);
  end_handoffs(std::move(news), [this, verdicts, then](const Endings& ended, bool durable) mutable {
    // It could not be written down: they go out again, and the asker is to ask again.
    if (!durable) resend_handoffs(ended);
    for (CancelVerdict& verdict : verdicts) {
      if (!durable && verdict.standing == CancelStanding::ended) {
        verdict.standing = CancelStanding::in_hand;
      }
    }
    then(verdicts);
  });
}

/// The end of what is on its way, which is not handed over any more.
EndedHandoff SiteScheduler::ending_of(PendingHandoff& handoff, const HandoffTarget& to,
                                      JobOutcome outcome, std::string reason) {
  handoff.ending = true;
  EndedHandoff ended{handoff.job, to, {}, outcome, std::move(reason), now()};
  // Tasks are counted and dropped: what is kept of the end has no use for them.
  ended.tasks = static_cast<std::uint32_t>(ended.job.tasks.size());
  ended.job.tasks.clear();
  return ended;
}

/// Calls `then` when the ends are durable and can be seen, or could not be kept.
void SiteScheduler::end_handoffs(SiteNews news,
                                 std::function<void(const Endings& ended, bool durable)> then) {
  Endings ended = news.ended;
  persist_news(std::move(news), [this, ended = std::move(ended),
                                 then = std::move(then)](const std::string& trouble) {
    if (!trouble.empty()) return then(ended, false);
    for (const EndedHandoff& each : ended) {
      // Whoever waits for the handoff need not wait any longer.
      if (const auto gone = peer(each.to).waiting.take(each.job.id)) arrived(*gone);
      ended_.add(each);
      part_ended_here(each, nullptr);
    }
    then(ended, true);
  });
}

/// It could not be written down that they have ended.
void SiteScheduler::resend_handoffs(const Endings& ended) {
  for (const EndedHandoff& each : ended) {
    if (PendingHandoff* found = peer(each.to).waiting.find(each.job.id)) found->ending = false;
    send_handoffs(each.to);
  }
}

/// Ends here the parts that a master has refused for good. The job's other parts are cancelled: the
/// job cannot be completed any more.
void SiteScheduler::refuse(const HandoffTarget& by, const std::vector<SubmitVerdict>& verdicts) {
  SiteNews news;
  for (const SubmitVerdict& verdict : verdicts) {
    PendingHandoff* found = peer(by).waiting.find(verdict.job);
    // A repeated verdict about an end that is being written.
    if (found == nullptr || found->ending) continue;
    news.ended.push_back(ending_of(*found, by, JobOutcome::refused, verdict.reason));
    if (verdict.conflict) {
      news.ended.back().conflict = true;
      note(target_name(by) + " has another job " + std::to_string(verdict.job.value) +
           ": the one that came with that number is refused");
      note_conflict(verdict.job);
      news.asks_numbers |= learn_of_conflict(verdict.job);
      // Only a part of a job has others that are to be ended.
    } else if (found->job.total_tasks > 0) {
      news.cancels.push_back(verdict.job);
    }
  }
  if (news.ended.empty()) return;
  const std::vector<JobId> broken = news.cancels;
  end_handoffs(std::move(news), [this, broken](const Endings& ended, bool durable) {
    if (!durable) {
      // The refusals are lost, so that the parts are handed over again and refused again.
      timer_.at(now() + settings_.hand_retry, [this, ended] { resend_handoffs(ended); });
      return;
    }
    for (const JobId job : broken) cancel_kept(job);
  });
}

std::string SiteScheduler::target_name(const HandoffTarget& target) const {
  const std::size_t place = places_.at(target);
  return target.site ? parts_.sites[place].name : parts_.masters[place].name;
}

}  // namespace muster
