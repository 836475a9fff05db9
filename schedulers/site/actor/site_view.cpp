#include "schedulers/site/actor/site_view.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "config/submission.hpp"
#include "model/job_view.hpp"

namespace muster {
namespace {

/// A job, or a part of one, that no master has yet.
JobView on_its_way(const Job& job) {
  JobView view = view_of(job);
  view.state = ShownState::handing_over;
  view.waiting = job.tasks.size();
  return view;
}

/// Why one on its way has not arrived, where that is more than that it has just come.
std::optional<std::string> why_on_its_way(std::uint32_t failures, bool alone, std::size_t bytes,
                                          const std::string& to) {
  if (failures == 0) return std::nullopt;
  std::string why = to + " has not confirmed it, though it was handed over " +
                    std::to_string(failures) + (failures == 1 ? " time" : " times");
  if (alone) why += ", at last alone (" + std::to_string(bytes) + " bytes)";
  return why;
}

/// Drops the texts that all parts of a job share.
void drop_texts(JobView& view) {
  view.command.clear();
  view.name.clear();
  view.workload_class.clear();
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

JobsView SiteView::jobs(const JobsQuestion& wanted) const {
  std::vector<Shown> found;
  JobsView list;
  if (wanted.only) {
    for (const JobId job : *wanted.only) {
      for (const Shown& part : parts_of(job)) found.push_back(part);
    }
  } else {
    found = page(wanted, list);
  }
  // A question for some jobs gets all parts of each, wherever they stand in lists.
  const auto place = [&](const Shown& shown) {
    return std::pair(!wanted.only && shown.ended != nullptr, list_place(*shown.job));
  };
  std::stable_sort(found.begin(), found.end(), [&](const Shown& a, const Shown& b) {
    const auto [a_over, a_job] = place(a);
    const auto [b_over, b_job] = place(b);
    return a_over != b_over ? b_over : a_job > b_job;
  });
  ByteCut cut;
  std::size_t jobs = 0;
  const Shown* last = nullptr;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Shown& each = found[i];
    const bool is_new = last == nullptr || place(*last) != place(each);
    if (is_new) ++jobs;
    // Active jobs and ended ones are pages of their own.
    if (last != nullptr && place(*last).first != place(each).first) jobs = 1;
    last = &each;
    // Parts of a job that is shown are shown all.
    if (jobs > wanted.bound()) continue;
    JobView view = view_of_part(each);
    // Of one that ended here the tasks are gone, and with them what was asked for each.
    const bool is_known = !each.job->tasks.empty();
    if (wanted.only && wanted.only->size() == 1 && is_new && is_known) {
      view.submission = config::shown_submission(*each.job);
    }
    // The texts of the first part are not repeated, so that all of them go into one message.
    if (!is_new) drop_texts(view);
    if (!cut.takes(view) && is_new) {
      list.cut = true;
      list.looked.reset();
      if (wanted.only)
        put_rest(list, {found.begin() + static_cast<std::ptrdiff_t>(i), found.end()});
      break;
    }
    list.jobs.push_back(std::move(view));
  }
  return list;
}

JobView SiteView::view_of_part(const Shown& each) const {
  JobView view = each.ended != nullptr ? over_here(*each.ended) : on_its_way(*each.job);
  if (each.to == nullptr) return view;
  if (peers_.is_self(*each.to)) {
    view.state = state_of(*each.job, *each.to);
    if (std::string why = waiting_.why(each.job->id); !why.empty()) view.reason = std::move(why);
    return view;
  }
  view.to = peers_.name_of(*each.to);
  view.to_site = each.to->site;
  if (each.waiting == nullptr) return view;
  view.reason =
      why_on_its_way(each.waiting->failures, each.waiting->alone, each.waiting->bytes, view.to);
  return view;
}

/// The jobs that are still to be asked for, each once.
void SiteView::put_rest(JobsView& list, const std::vector<Shown>& rest) {
  std::set<JobId> jobs;
  for (const Shown& each : rest) jobs.insert(each.job->id);
  list.rest.assign(jobs.begin(), jobs.end());
}

/// Of each way out, and of what ended here, as many jobs as may be shown. Looks at a bounded number
/// of jobs on their way, for jobs that are not wanted must not hold up the site; the list says then
/// how far it is whole.
std::vector<SiteView::Shown> SiteView::page(const JobsQuestion& wanted, JobsView& list) const {
  constexpr std::size_t kLooks = 10'000;
  const JobSieve sieve(wanted.filter);
  std::vector<Shown> found;
  std::size_t jobs = 0;
  JobId last;
  const auto use = [&](const Shown& one) {
    if (!sieve.takes(filtered(one))) return true;
    if (std::exchange(last, one.job->id) != one.job->id && ++jobs > wanted.bound()) return false;
    found.push_back(one);
    return true;
  };
  const std::size_t looks = std::max<std::size_t>(kLooks / (peers_.all().size() + 1), 1);
  std::optional<JobPlace> looked;
  for (const HandoffTarget& to : peers_.all()) {
    if (!wanted.active) continue;
    jobs = 0;
    last = {};
    std::size_t left = looks;
    handoffs_.queue(to).listed(wanted.active_below, [&](const PendingHandoff& one) {
      if (!use({&one.job, &to, nullptr, &one})) return false;
      if (--left > 0) return true;
      looked = std::max(looked.value_or(list_place(one.job)), list_place(one.job));
      return false;
    });
  }
  if (looked) {
    // Behind the place at which one way out was left, jobs of the others would come too early.
    std::erase_if(found, [&](const Shown& one) { return list_place(*one.job) < *looked; });
    list.cut = true;
    list.looked = JobCursor{false, *looked};
    return found;
  }
  if (!wanted.over) return found;
  jobs = 0;
  last = {};
  ended_.listed(wanted.over_below, [&](const EndedHandoff& one) {
    return use({&one.job, nullptr, &one});
  });
  return found;
}

/// A job that is not over, on that way.
ShownState SiteView::state_of(const Job& job, const HandoffTarget& to) const {
  if (!peers_.is_self(to)) return ShownState::handing_over;
  return waiting_.is_held(job.id) ? ShownState::held : ShownState::waiting;
}

FilteredJob SiteView::filtered(const Shown& one) const {
  const Job& job = *one.job;
  FilteredJob asked{job.user, job.name, job.submitted.value_or(Instant{})};
  asked.is_part = one.ended == nullptr && job.total_tasks > 0;
  if (one.ended != nullptr) {
    asked.outcome = one.ended->outcome;
    if (!job.submitted) asked.submitted = one.ended->at;
  } else {
    asked.state = state_of(job, *one.to);
  }
  return asked;
}

std::vector<SiteView::Shown> SiteView::parts_of(JobId job) const {
  std::vector<Shown> found;
  for (const HandoffTarget& to : peers_.all()) {
    const PendingHandoff* one = handoffs_.find(to, job);
    if (one != nullptr) found.push_back({&one->job, &to, nullptr, one});
  }
  ended_.parts_of(job, [&](const EndedHandoff& one) {
    found.push_back({&one.job, nullptr, &one});
  });
  return found;
}

}  // namespace muster
