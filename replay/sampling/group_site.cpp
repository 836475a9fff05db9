#include "replay/sampling/group_site.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/live_ids.hpp"

namespace muster::sampling {
namespace {

/// Submissions whose repetition is recognised, as many as a site's store keeps.
constexpr std::size_t kMaxTokens = 100'000;

}  // namespace

GroupSite::GroupSite(caf::actor_config& config, GroupShared& group)
    : GroupSiteActor::base(config), group_(group), timer_(this, group.origin) {
  set_down_handler([this](const caf::down_msg& down) { listeners_.drop(down.source); });
}

void GroupSite::on_exit() {
  listeners_.clear();
}

GroupSiteActor::behavior_type GroupSite::make_behavior() {
  return {
      [this](hand_atom, std::vector<Job>& jobs) { return take(std::move(jobs)); },
      [this](watch_atom, const JobListener& listener, const std::vector<JobId>& jobs) {
        return watch(listener, jobs);
      },
      [this](cancel_atom, JobId id) { return cancel(id); },
      [this](over_atom, const JobEnd& end) { notify_over(end.job, end.outcome); },
      [](const Wakeup& wakeup) { wakeup.run(); },
      [this](open_atom) {
        open_ = true;
        for (const SharedJob& job : std::exchange(waiting_, {})) place(job);
      },
  };
}

GroupSite::Verdicts GroupSite::take(std::vector<Job> jobs) {
  Verdicts verdicts;
  for (Job& job : jobs) {
    if (const auto known = tokens_.find(job.token); known != tokens_.end()) {
      verdicts.push_back({known->second, true, {}});  // submitted before
      continue;
    }
    number_job(job, job_id_of(0, next_job_++));
    if (!job.token.empty()) {
      tokens_[job.token] = job.id;
      tokens_by_age_.push_back(job.token);
    }
    // The oldest token goes: its repetition would be another job.
    if (tokens_by_age_.size() > kMaxTokens) {
      tokens_.erase(tokens_by_age_.front());
      tokens_by_age_.pop_front();
    }
    verdicts.push_back(begin(std::move(job)));
  }
  return verdicts;
}

SubmitVerdict GroupSite::begin(Job job) {
  if (job.tasks.empty()) return {{}, false, "the job has no tasks"};
  const JobId id = job.id;
  const SharedJob shared = group_.event_log->submit(std::move(job), timer_.now());
  // Repeated by another site; its first arrival counts.
  if (!shared) return {id, true, {}};  // taken before
  shared->is_long = group_.params.is_long(shared->estimate_s);
  if (open_) {
    place(shared);
  } else {
    waiting_.push_back(shared);
  }
  return {id, true, {}};
}

caf::result<GroupSite::Ends> GroupSite::watch(const JobListener& listener,
                                              const std::vector<JobId>& jobs) {
  if (!listener) return ActorError::unknown;
  if (!listeners_.has_room(jobs.size())) return ActorError::not_connected;
  Ends ends;
  for (JobId job : jobs) {
    if (const JobEnd* end = newest_ends_.find(job)) {
      ends.push_back(*end);
    } else if (listeners_.add(listener, job)) {
      monitor(listener);
    }
  }
  return ends;
}

void GroupSite::place(const SharedJob& job) {
  // No instance was to be had: said of each job, since jobs may come at any time.
  if (!group_.composition->fault(group_.members.size()).empty()) {
    return refuse(job->id, {RefusalKind::not_now, RefusalCode::cloud_capacity, {}, 1, 0});
  }
  if (group_.event_log->job(job->id).markets == MarketChoice::spot) {
    return refuse(job->id, {RefusalKind::never, RefusalCode::wrong_market, {}, 0, 0});
  }
  if (!group_.has_place(*job)) {
    return refuse(job->id, {RefusalKind::never, RefusalCode::fits_no_type, {}, 0, 0});
  }
  TaskBatch batch{job, std::vector<std::uint32_t>(job->tasks)};
  std::iota(batch.tasks.begin(), batch.tasks.end(), 0U);
  send(group_.schedulers[group_.composition->scheduler_for(*job)], std::move(batch));
}

void GroupSite::refuse(JobId id, const Refusal& refusal) {
  group_.event_log->refuse(id, refusal, timer_.now());
  notify_over(id, JobOutcome::refused);
}

/// Only of a job that waits for the workers: a job that a scheduler has been given runs to its end.
CancelReport GroupSite::cancel(JobId id) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const SharedJob& job) { return job->id == id; });
  if (found == waiting_.end()) return {id, CancelStanding::passed_on, {}};
  waiting_.erase(found);
  group_.event_log->cancel(id, timer_.now());
  notify_over(id, JobOutcome::cancelled);
  return {id, CancelStanding::ended, {}};
}

void GroupSite::notify_over(JobId id, JobOutcome outcome) {
  const JobEnd end{id, outcome};
  newest_ends_.add(end);
  for (const JobListener& listener : listeners_.take(id)) send(listener, over_atom_v, end);
}

}  // namespace muster::sampling
