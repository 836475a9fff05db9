// A site scheduler as its users are shown it.

#include <algorithm>
#include <utility>

#include "model/job_view.hpp"
#include "schedulers/site/site_actor.hpp"

// Pages go from the highest number down. Every way out gives as many jobs as a page has, which is
// enough for any order among them, so that a page costs O(peers x page).

namespace muster {
namespace {

/// A job, or a part of one, that no master has yet.
JobView on_its_way(const Job& job) {
  JobView view = view_of(job);
  view.state = ShownState::handing_over;
  view.waiting = job.tasks.size();
  return view;
}

/// A job, or a part of one, that ended here.
JobView over_here(const EndedHandoff& ended) {
  JobView view = on_its_way(ended.job);
  view.state = shown(ended.outcome);
  view.reason = ended.reason;
  view.tasks = ended.tasks;
  view.whole = std::max(ended.job.total_tasks, ended.tasks);
  view.waiting = 0;
  view.over = ended.at;
  return view;
}

}  // namespace

/// The jobs that were asked for, in the order of JobCursor. Only those that are shown are written
/// out; the parts of a job stay together.
JobsView SiteScheduler::shown_jobs(const JobsQuestion& wanted) const {
  std::vector<Shown> found;
  if (wanted.only) {
    for (const JobId job : *wanted.only) {
      for (const Shown& part : parts_shown(job)) found.push_back(part);
    }
  } else {
    found = page_shown(wanted);
  }
  const auto place = [](const Shown& shown) {
    return std::pair(shown.ended != nullptr, shown.job->id);
  };
  std::stable_sort(found.begin(), found.end(), [&](const Shown& a, const Shown& b) {
    const auto [a_over, a_job] = place(a);
    const auto [b_over, b_job] = place(b);
    return a_over != b_over ? b_over : a_job > b_job;
  });
  JobsView list;
  std::size_t jobs = 0;
  const Shown* last = nullptr;
  for (const Shown& each : found) {
    if (last == nullptr || place(*last) != place(each)) ++jobs;
    // Active jobs and ended ones are pages of their own.
    if (last != nullptr && place(*last).first != place(each).first) jobs = 1;
    last = &each;
    // Parts of a job that is shown are shown all.
    if (jobs > wanted.bound()) continue;
    list.jobs.push_back(each.ended != nullptr ? over_here(*each.ended) : on_its_way(*each.job));
    if (each.to == nullptr) continue;
    list.jobs.back().to = target_name(*each.to);
    list.jobs.back().to_site = each.to->site;
  }
  return list;
}

/// Of each way out, and of what ended here, as many jobs as may be shown.
std::vector<SiteScheduler::Shown> SiteScheduler::page_shown(const JobsQuestion& wanted) const {
  std::vector<Shown> found;
  std::size_t jobs = 0;
  JobId last;
  const auto use = [&](const Job& job, const HandoffTarget* to, const EndedHandoff* ended) {
    if (!wanted.takes(job)) return true;
    if (std::exchange(last, job.id) != job.id && ++jobs > wanted.bound()) return false;
    found.push_back({&job, to, ended});
    return true;
  };
  for (const std::vector<HandoffPeer>* peers : {&masters_, &sites_}) {
    for (const HandoffPeer& each : *peers) {
      if (!wanted.active) continue;
      jobs = 0;
      last = {};
      each.waiting.highest_first(wanted.active_below, [&](const PendingHandoff& one) {
        return use(one.job, &each.to, nullptr);
      });
    }
  }
  if (!wanted.over) return found;
  jobs = 0;
  last = {};
  ended_.highest_first(wanted.over_below,
                       [&](const EndedHandoff& one) { return use(one.job, nullptr, &one); });
  return found;
}

std::vector<SiteScheduler::Shown> SiteScheduler::parts_shown(JobId job) const {
  std::vector<Shown> found;
  for (const std::vector<HandoffPeer>* peers : {&masters_, &sites_}) {
    for (const HandoffPeer& each : *peers) {
      const PendingHandoff* one = each.waiting.find(job);
      if (one != nullptr) found.push_back({&one->job, &each.to, nullptr});
    }
  }
  ended_.parts_of(job, [&](const EndedHandoff& one) {
    found.push_back({&one.job, nullptr, &one});
  });
  return found;
}

SiteFigures SiteScheduler::figures() const {
  SiteFigures view{parts_.sites[own_].name, jobs_in_hand(), store_trouble_};
  if (learns_) view.trouble += (view.trouble.empty() ? "" : "; ") + who_is_learnt_from();
  return view;
}

}  // namespace muster
