#include "schedulers/site/sampling/group_site.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace muster::sampling {

GroupSite::GroupSite(caf::actor_config& config, GroupShared& group)
    : GroupSiteActor::base(config), group_(group), timer_(this, group.epoch) {}

void GroupSite::on_exit() {
  users_.clear();
}

GroupSiteActor::behavior_type GroupSite::make_behavior() {
  return {
      [this](accept_atom, Job& job, const JobListener& user) {
        return accept(std::move(job), user);
      },
      [](hand_atom, const std::vector<Job>&) -> caf::result<std::vector<AcceptVerdict>> {
        return ActorError::unknown;  // nobody who is not waiting for the answer submits to a replay
      },
      [](forward_atom, const std::vector<Job>&) -> caf::result<std::vector<AcceptVerdict>> {
        return ActorError::unknown;  // a group has one door
      },
      [this](cancel_atom, JobId id) { return cancel(id); },
      [](cancel_atom, const std::vector<JobId>&) -> caf::result<std::vector<CancelVerdict>> {
        return ActorError::unknown;  // a group has one door
      },
      [this](over_atom, JobId id, JobOutcome outcome) { tell_over(id, outcome); },
      [](load_atom) { return LoadReport{}; },
      [](const Query&) -> caf::result<std::string> { return ActorError::unknown; },
      [](const Wakeup& wakeup) { wakeup.run(); },
      [this](open_atom) {
        open_ = true;
        for (const SharedJob& job : std::exchange(waiting_, {})) place(job);
      },
  };
}

caf::result<JobId> GroupSite::accept(Job job, const JobListener& user) {
  if (job.tasks.empty()) return ActorError::invalid_job;
  const JobId id = job.id;
  const SharedJob shared = group_.book->accept(std::move(job), timer_.now());
  if (!shared) return ActorError::duplicate_job;
  shared->is_long = group_.params.is_long(shared->estimate_s);
  users_[id] = user;
  if (open_) {
    place(shared);
  } else {
    waiting_.push_back(shared);
  }
  return id;
}

void GroupSite::place(const SharedJob& job) {
  if (!fault_of(group_.params, group_.members.size()).empty()) {
    return refuse(job->id, {RefusalKind::not_now, RefusalCode::cloud_capacity, {}, 1, 0});
  }
  if (group_.book->job(job->id).markets == MarketChoice::spot) {
    return refuse(job->id, {RefusalKind::never, RefusalCode::wrong_market, {}, 0, 0});
  }
  if (!group_.has_place(*job)) {
    return refuse(job->id, {RefusalKind::never, RefusalCode::fits_no_type, {}, 0, 0});
  }
  const bool central = job->is_long && group_.params.system == System::eagle;
  TaskBatch batch{job, std::vector<std::uint32_t>(job->tasks)};
  std::iota(batch.tasks.begin(), batch.tasks.end(), 0U);
  send(group_.schedulers[central ? 1 : 0], std::move(batch));
}

void GroupSite::refuse(JobId id, const Refusal& refusal) {
  group_.book->refuse(id, refusal, timer_.now());
  tell_over(id, JobOutcome::refused);
}

/// Only of a job that waits for the workers: what a scheduler has been told of runs to its end.
CancelReport GroupSite::cancel(JobId id) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const SharedJob& job) { return job->id == id; });
  if (found == waiting_.end()) return {id, CancelStanding::passed_on, {}};
  waiting_.erase(found);
  group_.book->cancel(id, timer_.now());
  tell_over(id, JobOutcome::cancelled);
  return {id, CancelStanding::ended, {}};
}

void GroupSite::tell_over(JobId id, JobOutcome outcome) {
  const auto user = users_.find(id);
  if (user == users_.end()) return;
  send(user->second, over_atom_v, id, outcome);
  users_.erase(user);
}

}  // namespace muster::sampling
