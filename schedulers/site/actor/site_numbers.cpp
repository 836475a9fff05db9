// The numbers of a site's jobs where its store may not know how far they have come: it was made
// anew or is a backup, or somebody has another job of a number. Then nothing is numbered before all
// who may have jobs of this site have said which is the newest that ever came to them.

#include <algorithm>
#include <utility>

#include "model/live_ids.hpp"
#include "schedulers/site/actor/site_actor.hpp"

namespace muster {

/// As long as it is not known, every job may be.
bool SiteScheduler::has_given(JobId job) const {
  if (site_of(job) != parts_.number) return false;
  return learns_ || muster::number_of(job) < next_job_;
}

void SiteScheduler::learn_numbers() {
  learns_ = true;
  for (const HandoffPeer& each : masters_) untold_.insert(each.to);
  for (const HandoffPeer& each : sites_) {
    if (each.to.index != parts_.number) untold_.insert(each.to);
  }
}

/// Remembers the conflict. Those of jobs that another site has numbered are told to that site with
/// every load report.
void SiteScheduler::note_conflict(JobId job) {
  conflicts_.add(job);
  if (site_of(job) != parts_.number) conflicts_of_others_.add(job);
}

/// Somebody has another job of that number. True: numbers are learnt anew, because the next ones
/// are not known to be free. What is learnt is above all that others have by more than may still be
/// on its way, so conflicts of before are none to learn from.
bool SiteScheduler::learn_of_conflict(JobId job) {
  if (site_of(job) != parts_.number) return false;
  if (!learns_ && muster::number_of(job) + settings_.max_waiting < next_job_) return false;
  note("job " + std::to_string(job.value) + " is two jobs: numbers are learnt anew");
  learn_numbers();
  if (settings_.load_every > Duration::zero()) {
    ask_pause_ = settings_.load_every;
    ask_alarm_.at(now() + ask_pause_);
  }
  return true;
}

/// Another site tells of it as long as it remembers. What is learnt is not forgotten by a crash
/// before all have said it.
void SiteScheduler::on_conflicts(const LoadReport& report) {
  for (const JobId job : report.conflicts) {
    if (learns_ || !learn_of_conflict(job)) continue;
    SiteNews news;
    news.asks_numbers = true;
    persist_news(std::move(news), [](const std::string&) {});
  }
}

void SiteScheduler::on_newest_numbers(const HandoffPeer& from, const LoadReport& report) {
  for (const JobId job : report.newest) {
    if (site_of(job) == parts_.number) next_job_ = std::max(next_job_, number_of(job) + 1);
  }
  // The last one to be heard: what others know is complete.
  if (untold_.erase(from.to) > 0 && untold_.empty()) persist_numbers();
}

/// What was learnt is durable before it is made use of. Above the newest job that came to anybody
/// there may be as many as may wait here, of which users have been told and nobody else has.
void SiteScheduler::persist_numbers() {
  SiteNews news;
  // A site that has numbered nothing can still take other numbers of sites and masters.
  const std::uint64_t next = next_job_ > 1 ? next_job_ + settings_.max_waiting : next_job_;
  news.next_job = next > 1 ? next : 0;
  news.numbers_known = true;
  persist_news(std::move(news), [this, next](const std::string& trouble) {
    // learn_numbers() has begun again meanwhile: what this write says may be too low.
    if (!untold_.empty()) return;  // another conflict since
    if (!trouble.empty()) {
      timer_.at(now() + settings_.hand_retry, [this] { persist_numbers(); });
      return;
    }
    learns_ = false;
    next_job_ = next;
    note("knows its numbers: the next job is " +
         std::to_string(job_id_of(parts_.number, next_job_).value));
  });
}

/// Why nothing is numbered at present, in a few words.
std::string SiteScheduler::who_is_learnt_from() const {
  std::string names;
  for (const HandoffTarget& each : untold_)
    names += (names.empty() ? "" : ", ") + target_name(each);
  return "the site still learns from " + (names.empty() ? "its store" : names) +
         " which numbers it has given out";
}

/// Whether a job of that number waits here that was submitted as another one. Of those that have
/// gone on there is only the number.
bool SiteScheduler::is_of_another(const Job& job) const {
  return std::any_of(masters_.begin(), masters_.end(), [&](const HandoffPeer& each) {
    const PendingHandoff* found = each.waiting.find(job.id);
    if (found == nullptr) return false;
    return found->job.token != job.token || found->job.user != job.user;
  });
}

void SiteScheduler::note(const std::string& text) const {
  if (parts_.note) parts_.note("site " + parts_.sites[own_].name + ": " + text);
}

}  // namespace muster
