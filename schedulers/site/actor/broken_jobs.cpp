#include "schedulers/site/actor/broken_jobs.hpp"

#include <string>
#include <utility>

#include "model/live_ids.hpp"

namespace muster {

/// A site that has not been heard may be there: its first answer can come after a master's.
bool BrokenJobs::is_mine(JobId job) const {
  const HandoffTarget site{true, site_of(job)};
  if (parts_.peers.is_self(site) || !parts_.peers.knows(site)) return true;
  return parts_.loads.is_silent(site, started_, host_.now());
}

void BrokenJobs::end_rest_of(JobId job) {
  if (is_mine(job)) {
    cancel(job);
  } else {
    left_.add(job);
  }
}

/// Asks no master before that is durable: a master that was asked tells of the job no more.
void BrokenJobs::cancel(JobId job) {
  SiteNews news;
  news.cancels.push_back(job);
  parts_.writer.persist(std::move(news), [this, job](const std::string& trouble) {
    trouble.empty() ? host_.cancel_kept(job) : static_cast<void>(left_.add(job));
  });
}

void BrokenJobs::cancel_what_others_left() {
  for (const JobId job : left_.oldest_first()) {
    if (!is_mine(job)) continue;
    left_.erase(job);
    cancel(job);
  }
}

}  // namespace muster
