#include "schedulers/site/job_numbers.hpp"

#include <algorithm>
#include <utility>

namespace muster {

JobNumbers::JobNumbers(const SitePeers& peers, SiteWriter& writer, std::uint64_t max_waiting,
                       Host host)
    : peers_(peers), writer_(writer), max_waiting_(max_waiting), host_(std::move(host)) {}

void JobNumbers::recall(std::uint64_t next, bool asks) {
  next_ = std::max<std::uint64_t>(1, next);
  if (asks) learn();
}

bool JobNumbers::has_given(JobId job) const {
  if (site_of(job) != peers_.number()) return false;
  return learns_ || number_of(job) < next_;
}

void JobNumbers::learn() {
  learns_ = true;
  for (const HandoffTarget& each : peers_.all()) {
    if (!peers_.is_self(each)) untold_.insert(each);
  }
}

void JobNumbers::note_conflict(JobId job) {
  conflicts_.add(job);
  if (site_of(job) != peers_.number()) conflicts_of_others_.add(job);
}

/// The next numbers are not known to be free. Learnt numbers are above all that others have by more
/// than may still be on its way, so there is nothing to learn from earlier conflicts.
bool JobNumbers::learn_of_conflict(JobId job) {
  if (site_of(job) != peers_.number()) return false;
  if (!learns_ && number_of(job) + max_waiting_ < next_) return false;
  host_.note("job " + std::to_string(job.value) + " is two jobs: numbers are learnt anew");
  learn();
  host_.ask_soon();
  return true;
}

/// Another site tells of a conflict as long as it remembers. Learnt numbers are not forgotten by a
/// crash before all have answered.
void JobNumbers::hear(const HandoffTarget& from, const std::vector<JobId>& conflicts,
                      const std::vector<JobId>& newest) {
  for (const JobId job : conflicts) {
    if (learns_ || !learn_of_conflict(job)) continue;
    SiteNews news;
    news.asks_numbers = true;
    writer_.persist(std::move(news), [](const std::string&) {});
  }
  if (learns_) hear_newest(from, newest);
}

void JobNumbers::hear_newest(const HandoffTarget& from, const std::vector<JobId>& newest) {
  for (const JobId job : newest) {
    if (site_of(job) == peers_.number()) next_ = std::max(next_, number_of(job) + 1);
  }
  // The last one to be heard: the others' knowledge is complete.
  if (untold_.erase(from) > 0 && untold_.empty()) persist();
}

/// Learnt numbers are durable before they are used. Above the newest job that any of them has heard
/// of there may be as many as may wait here, of which only users have been told.
void JobNumbers::persist() {
  SiteNews news;
  // A site that has numbered nothing can still take other numbers of sites and masters.
  const std::uint64_t next = next_ > 1 ? next_ + max_waiting_ : next_;
  news.next_job = next > 1 ? next : 0;
  news.numbers_known = true;
  writer_.persist(std::move(news), [this, next](const std::string& trouble) {
    // learn() has begun again meanwhile: the numbers of this write may be too low.
    if (!untold_.empty()) return;  // another conflict since
    if (!trouble.empty()) return host_.retry([this] { persist(); });
    learns_ = false;
    next_ = next;
    host_.note("knows its numbers: the next job is " +
               std::to_string(job_id_of(peers_.number(), next_).value));
  });
}

std::string JobNumbers::who_is_learnt_from() const {
  std::string names;
  for (const HandoffTarget& each : untold_) {
    names += (names.empty() ? "" : ", ") + peers_.name_of(each);
  }
  return "the site still learns from " + (names.empty() ? "its store" : names) +
         " which numbers it has given out";
}

}  // namespace muster
